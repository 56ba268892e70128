-- + 0: see find_schedule_id.
SELECT
    s.id::text, s.key, s.name, s.tenant, s.description, s.owner, s.correlation_id, s.client_request_id, s.tags,
    s.app, s.revision, s.paused_at, s.paused_until, s.paused_by, s.pause_reason, s.created_at, s.created_by,
    s.updated_at, s.ended_at, s.deleted_at, s.replaces, s.replaced_by,
    c.schedule_id::text, c.revision, c.status, c.window_at, c.next_window_at, c.fire_at, c.slot, c.fired, c.failures,
    c.last_fired_at, c.error, r.body, r.payload
FROM duly.duly_schedules AS s
JOIN duly.duly_cursors AS c ON c.schedule_id = s.id
JOIN duly.duly_revisions AS r ON r.schedule_id = s.id AND r.revision = s.revision
WHERE s.id = ANY (:ids::uuid[]) AND s.deleted_at + 0 IS NULL
  AND (:owner::text IS NULL OR (s.tenant = :tenant::text AND s.owner = :owner::text))
