-- The cursor is held until the end of the purge, so that no run can be added meanwhile.
SELECT c.schedule_id::text
FROM (
    SELECT id FROM duly.duly_schedules WHERE deleted_at < :ended_before::bigint
    UNION
    SELECT id FROM duly.duly_schedules WHERE kind = 'once' AND ended_at < :ended_before::bigint
) AS s
JOIN duly.duly_cursors AS c ON c.schedule_id = s.id
WHERE NOT EXISTS (SELECT FROM duly.duly_runs AS r WHERE r.schedule_id = s.id)
LIMIT :limit::bigint
FOR UPDATE OF c SKIP LOCKED
