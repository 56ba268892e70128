SELECT run_id::text
FROM duly.duly_marks
WHERE name = :name::text
  AND run_id < coalesce(:after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
ORDER BY run_id DESC
LIMIT :limit::bigint
