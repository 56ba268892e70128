-- Unprepared: the filters that are given decide the plan.
SELECT
    s.id::text, s.key, s.name, s.tenant, s.description, s.owner, s.correlation_id, s.client_request_id, s.tags,
    s.app, s.revision, s.paused_at, s.paused_until, s.paused_by, s.pause_reason, s.created_at, s.created_by,
    s.updated_at, s.ended_at, s.deleted_at, s.replaces, s.replaced_by,
    c.schedule_id::text, c.revision, c.status, c.window_at, c.next_window_at, c.fire_at, c.slot, c.fired, c.failures,
    c.last_fired_at, c.error, r.body, NULL
FROM duly.duly_schedules AS s
JOIN duly.duly_cursors AS c ON c.schedule_id = s.id
JOIN duly.duly_revisions AS r ON r.schedule_id = s.id AND r.revision = s.revision
WHERE s.deleted_at IS NULL
  AND (:after::uuid IS NULL OR (s.id > :after::uuid AND c.schedule_id > :after::uuid))
  AND (:upper::uuid IS NULL OR (s.id <= :upper::uuid AND c.schedule_id <= :upper::uuid))
  AND (:tenant::text IS NULL OR s.tenant = :tenant::text)
  AND (:owner::text IS NULL OR s.owner = :owner::text)
  AND (:job::text IS NULL OR s.job = :job::text)
  AND (:topic::text IS NULL OR s.topic = :topic::text)
  AND (:app::text IS NULL OR s.app = :app::text)
  AND (:enabled::boolean IS NULL OR (s.paused_at IS NULL) = :enabled::boolean)
  AND (:status::text IS NULL OR c.status = :status::text)
  AND (:tag::text IS NULL OR s.tags::jsonb ? :tag::text)
  AND (:q::text IS NULL OR s.name ILIKE :q::text OR s.key ILIKE :q::text OR s.owner ILIKE :q::text
    OR (s.tags <> '[]' AND EXISTS (SELECT FROM jsonb_array_elements_text(s.tags::jsonb) AS t WHERE t ILIKE :q::text)))
ORDER BY s.id
LIMIT :limit::bigint
