-- What a run that goes on as another leaves to it: an event is for those who waited then, an end for one position.
SELECT run_id, n, kind, name, body, error
FROM duly_inbox
WHERE run_id IN (SELECT value FROM json_each(:ids)) AND taken = 0 AND kind IN ('signal', 'cancel')
ORDER BY run_id, n
