-- What a run that goes on as another leaves to it: an event is for those who waited then, an end for one position.
SELECT run_id::text, n, kind, name, body, error
FROM duly.duly_inbox
WHERE run_id = ANY (:ids::uuid[]) AND taken = 0 AND kind IN ('signal', 'cancel')
ORDER BY run_id, n
