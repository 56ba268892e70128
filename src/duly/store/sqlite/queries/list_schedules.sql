-- Differs from postgres: walks from id to id along the index that fits the filters given, to the limit or the last id.
WITH RECURSIVE
asked (tenant) AS MATERIALIZED (
    SELECT :tenant WHERE :tenant IS NOT NULL UNION ALL SELECT id FROM duly_tenants WHERE :tenant IS NULL
),
walk (id) AS (
    SELECT coalesce(:after, '')
    UNION ALL
    SELECT CASE
        WHEN :owner IS NOT NULL THEN (SELECT min((
            SELECT min(id) FROM duly_schedules
            WHERE tenant = asked.tenant AND owner = :owner AND deleted_at IS NULL AND id > walk.id)) FROM asked)
        WHEN :job IS NOT NULL THEN (SELECT min((
            SELECT min(id) FROM duly_schedules
            WHERE tenant = asked.tenant AND job = :job AND deleted_at IS NULL AND id > walk.id)) FROM asked)
        WHEN :tenant IS NOT NULL THEN (
            SELECT min(id) FROM duly_schedules WHERE tenant = :tenant AND deleted_at IS NULL AND id > walk.id)
        ELSE (SELECT min(id) FROM duly_schedules WHERE id > walk.id)
    END
    FROM walk WHERE id < coalesce(:upper, '~')
),
page AS MATERIALIZED (
    SELECT s.id, s.key, s.name, s.tenant, s.description, s.owner, s.correlation_id, s.client_request_id, s.tags, s.app,
        s.revision, s.paused_at, s.paused_until, s.paused_by, s.pause_reason, s.created_at, s.created_by, s.updated_at,
        s.ended_at, s.deleted_at, s.replaces, s.replaced_by, c.schedule_id, c.revision, c.status, c.window_at,
        c.next_window_at, c.fire_at, c.slot, c.fired, c.failures, c.last_fired_at, c.error, r.body, NULL
    FROM walk
    CROSS JOIN duly_schedules AS s ON s.id = walk.id AND walk.id > coalesce(:after, '') AND walk.id <= coalesce(:upper, '~')
    CROSS JOIN duly_cursors AS c ON c.schedule_id = s.id
    CROSS JOIN duly_revisions AS r ON r.schedule_id = s.id AND r.revision = s.revision
    WHERE s.deleted_at IS NULL AND (:job IS NULL OR s.job = :job) AND (:topic IS NULL OR s.topic = :topic)
        AND (:app IS NULL OR s.app = :app) AND (:status IS NULL OR c.status = :status)
        AND (:enabled IS NULL OR (s.paused_at IS NULL) = :enabled)
        AND (:tag IS NULL OR :tag IN (SELECT value FROM json_each(s.tags)))
        AND (:q IS NULL OR s.name LIKE :q ESCAPE '\' OR s.key LIKE :q ESCAPE '\' OR s.owner LIKE :q ESCAPE '\'
            OR (s.tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(s.tags) AS t WHERE t.value LIKE :q ESCAPE '\')))
    LIMIT :limit
)
SELECT * FROM page ORDER BY 1
