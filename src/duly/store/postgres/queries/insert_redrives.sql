INSERT INTO duly.duly_redrives (run_id, fence, redriven_at, redriven_by, made_run)
SELECT n.run_id, n.fence, :now::bigint, n.redriven_by, n.made_run
FROM unnest(:run_id::uuid[], :fence::bigint[], :redriven_by::text[], :made_run::uuid[])
    AS n (run_id, fence, redriven_by, made_run)
ON CONFLICT DO NOTHING
