SELECT run_id
FROM duly_marks
WHERE name = :name AND run_id < coalesce(:after, 'g')
ORDER BY run_id DESC
LIMIT :limit
