SELECT DISTINCT s.run_id
FROM duly_steps AS s
WHERE s.kind = 'event' AND s.status = 'asked' AND s.name = :name
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = s.run_id AND w.tenant = :tenant) = :owner)
ORDER BY s.run_id
