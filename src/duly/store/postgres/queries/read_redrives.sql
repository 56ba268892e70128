SELECT run_id::text, fence, made_run::text FROM duly_redrives WHERE run_id = ANY (:ids::uuid[])
