SELECT run_id::text, fence, made_run::text
FROM duly.duly_redrives
WHERE run_id = ANY (:ids::uuid[])
  AND (:owner::text IS NULL OR
    (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = run_id AND w.tenant = :tenant::text) = :owner::text)
