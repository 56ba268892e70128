SELECT DISTINCT s.run_id::text
FROM duly.duly_steps AS s
WHERE s.kind = 'event' AND s.status = 'asked' AND s.name = :name::text
  AND (:owner::text IS NULL OR
    (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = s.run_id AND w.tenant = :tenant::text) = :owner::text)
ORDER BY 1
