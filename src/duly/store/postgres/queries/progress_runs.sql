UPDATE duly.duly_runs AS r SET attempt = 1, job = coalesce(n.job, r.job)
FROM unnest(:id::uuid[], :job::text[]) AS n (id, job)
WHERE r.id = ANY (:id::uuid[]) AND r.id = n.id
