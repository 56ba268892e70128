SELECT run_id, fence, made_run
FROM duly_redrives
WHERE run_id IN (SELECT value FROM json_each(:ids))
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = run_id AND w.tenant = :tenant) = :owner)
