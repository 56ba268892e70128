SELECT r.schedule_id::text, r.id::text, r.hold, r.claimed_by IS NOT NULL, r.cancel_at IS NOT NULL,
    r.kind, coalesce(r.window_at, r.fired_at), r.due_at, r.fired_at
FROM duly.duly_runs AS r
WHERE r.schedule_id = ANY (:schedule_id::uuid[])
ORDER BY r.id
