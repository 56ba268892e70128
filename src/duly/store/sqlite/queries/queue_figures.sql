-- It looks at every open run. Nothing that is in a hurry asks this.
SELECT
    queue, count(claimed_by), count(*) FILTER (WHERE claimed_by IS NULL AND due_at <= :now),
    count(*) FILTER (WHERE claimed_by IS NULL AND due_at > :now)
FROM duly_runs
WHERE :name IS NULL OR queue = :name
GROUP BY queue
