SELECT DISTINCT schedule_id::text FROM duly_runs WHERE hold = 1 AND schedule_id IS NOT NULL LIMIT :limit::bigint
