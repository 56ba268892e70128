SELECT run_id::text, max(n)
FROM duly.duly_inbox
WHERE run_id = ANY (:ids::uuid[])
GROUP BY run_id
