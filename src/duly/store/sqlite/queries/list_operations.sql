-- Every id sorts before the tilde; a plain condition lets the search start where the page before ended.
SELECT
    id, kind, body, made_at, made_by, status, position, matched, changed, refused, error, updated_at,
    finished_at, NULL
FROM duly_operations
WHERE id < ifnull(:after, '~')
  AND (:owner IS NULL OR (tenant = :tenant AND owner = :owner))
ORDER BY id DESC
LIMIT :limit
