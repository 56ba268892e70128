WITH asked (schedule_id) AS (VALUES (:schedule_id))
SELECT r.schedule_id, r.id, r.hold, r.claimed_by IS NOT NULL, r.cancel_at IS NOT NULL,
    r.kind, coalesce(r.window_at, r.fired_at), r.due_at, r.fired_at
FROM asked CROSS JOIN duly_runs AS r
WHERE r.schedule_id = asked.schedule_id
ORDER BY r.id
