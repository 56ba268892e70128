-- Looks at the schedules up to an id, one by one: what no index finds.
SELECT
    s.id, s.key, s.name, s.tenant, s.description, s.owner, s.correlation_id, s.client_request_id, s.tags, s.app,
    s.revision, s.paused_at, s.paused_until, s.paused_by, s.pause_reason, s.created_at, s.created_by, s.updated_at,
    s.ended_at, s.deleted_at, s.replaces, s.replaced_by, c.schedule_id, c.revision, c.status, c.window_at,
    c.next_window_at, c.fire_at, c.slot, c.fired, c.failures, c.last_fired_at, c.error, r.body, NULL
FROM duly_schedules AS s
CROSS JOIN duly_cursors AS c ON c.schedule_id = s.id
CROSS JOIN duly_revisions AS r ON r.schedule_id = s.id AND r.revision = s.revision
WHERE s.id > coalesce(:after, '') AND s.id <= :upper
    AND s.deleted_at IS NULL AND (:tenant IS NULL OR s.tenant = :tenant) AND (:owner IS NULL OR s.owner = :owner)
    AND (:job IS NULL OR s.job = :job) AND (:topic IS NULL OR s.topic = :topic) AND (:app IS NULL OR s.app = :app)
    AND (:status IS NULL OR c.status = :status) AND (:enabled IS NULL OR (s.paused_at IS NULL) = :enabled)
    AND (:tag IS NULL OR :tag IN (SELECT value FROM json_each(s.tags)))
    AND (:q IS NULL OR s.name LIKE :q ESCAPE '\' OR s.key LIKE :q ESCAPE '\' OR s.owner LIKE :q ESCAPE '\'
            OR (s.tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(s.tags) AS t WHERE t.value LIKE :q ESCAPE '\')))
ORDER BY s.id
LIMIT :limit
