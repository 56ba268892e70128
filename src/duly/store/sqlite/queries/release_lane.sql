UPDATE duly_runs SET hold = 0
WHERE id IN (SELECT value FROM json_each(:ids)) AND hold = 1
