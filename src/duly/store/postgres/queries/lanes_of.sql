SELECT DISTINCT lane::text FROM duly.duly_runs
WHERE id = ANY (:ids::uuid[]) AND schedule_id IS NULL AND lane IS NOT NULL
