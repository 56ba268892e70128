-- Unprepared: it looks at every open run, or at those of one queue. Nothing that is in a hurry asks this.
SELECT
    queue, count(*) FILTER (WHERE claimed_by IS NOT NULL),
    count(*) FILTER (WHERE claimed_by IS NULL AND due_at <= :now::bigint),
    count(*) FILTER (WHERE claimed_by IS NULL AND due_at > :now::bigint)
FROM duly.duly_runs
WHERE :name::text IS NULL OR queue = :name::text
GROUP BY queue
