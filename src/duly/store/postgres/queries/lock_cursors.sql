SELECT
    schedule_id::text, revision, status, window_at, next_window_at, fire_at, slot, fired, failures, last_fired_at, error,
    tenant
FROM duly.duly_cursors AS c
WHERE c.schedule_id = ANY (:ids::uuid[])
ORDER BY c.schedule_id
FOR UPDATE
