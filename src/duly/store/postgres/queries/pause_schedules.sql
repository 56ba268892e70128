-- What rules.bulk.pause decides, for many at once, whose cursors are locked; answers who was paused.
-- + 0: see find_schedule_id.
WITH parked AS (
    UPDATE duly.duly_cursors SET fire_at = NULL
    WHERE schedule_id = ANY (:ids::uuid[]) AND fire_at + 0 IS NOT NULL
)
UPDATE duly.duly_schedules AS s SET
    paused_at = :now::bigint, paused_until = :until::bigint, paused_by = :by::text, pause_reason = :reason::text,
    updated_at = :now::bigint
FROM duly.duly_cursors AS c
WHERE s.id = ANY (:ids::uuid[]) AND c.schedule_id = s.id
  AND s.paused_at IS NULL AND s.deleted_at + 0 IS NULL AND c.status IN ('pending', 'active')
RETURNING s.id::text, s.revision
