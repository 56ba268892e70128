-- The newest message that no body has taken: whoever reads a run's messages anew hears of no others.
SELECT run_id::text, max(n)
FROM duly.duly_inbox
WHERE run_id = ANY (:ids::uuid[]) AND taken = 0
GROUP BY run_id
