-- Which of these have a pause that is over.
-- + 0: see find_schedule_id.
SELECT s.id::text
FROM duly.duly_schedules AS s
WHERE s.id = ANY (:ids::uuid[])
  AND s.paused_until + 0 <= :now::bigint AND s.paused_at IS NOT NULL AND s.deleted_at + 0 IS NULL
