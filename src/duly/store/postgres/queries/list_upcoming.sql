-- Unprepared: the filters that are given decide the plan.
SELECT
    s.id::text, s.key, s.name, s.tenant, s.description, s.owner, s.correlation_id, s.client_request_id, s.tags,
    s.app, s.revision, s.paused_at, s.paused_until, s.paused_by, s.pause_reason, s.created_at, s.created_by,
    s.updated_at, s.ended_at, s.deleted_at, s.replaces, s.replaced_by,
    c.schedule_id::text, c.revision, c.status, c.window_at, c.next_window_at, c.fire_at, c.slot, c.fired, c.failures,
    c.last_fired_at, c.error, r.body, NULL
FROM duly.duly_cursors AS c
JOIN duly.duly_schedules AS s ON s.id = c.schedule_id
JOIN duly.duly_revisions AS r ON r.schedule_id = c.schedule_id AND r.revision = c.revision
WHERE c.fire_at >= :fire_at::bigint
  AND (c.fire_at, c.slot, c.schedule_id) > (:fire_at::bigint, :slot::bigint, :after::uuid)
  AND (:tenant::text IS NULL OR c.tenant = :tenant::text)
  AND (:owner::text IS NULL OR s.owner = :owner::text)
ORDER BY c.fire_at, c.slot, c.schedule_id
LIMIT :limit::bigint
