-- Until the commit nobody claims one of them or gives it back; who is doing so is waited for.
SELECT r.id::text
FROM duly.duly_runs AS r
WHERE r.schedule_id = ANY (:ids::uuid[])
ORDER BY r.id
FOR UPDATE
