-- Runs and those that are to hear of their end, in the order of ids, so that nobody waits in a circle.
SELECT r.id::text
FROM duly.duly_runs AS r
WHERE r.id = ANY (ARRAY(
    SELECT n.id FROM pg_catalog.unnest(:ids::uuid[]) AS n (id)
    UNION
    SELECT c.parent_id FROM duly.duly_children AS c WHERE c.run_id = ANY (:ids::uuid[]) AND c.position > 0
))
ORDER BY r.id
FOR UPDATE
