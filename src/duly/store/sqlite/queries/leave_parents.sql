UPDATE duly_children SET position = 0 WHERE run_id IN (SELECT value FROM json_each(:ids)) AND position > 0
