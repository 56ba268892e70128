UPDATE duly.duly_runs SET hold = 0
WHERE id = ANY (ARRAY(
    SELECT id
    FROM duly.duly_runs
    WHERE hold = 2 AND (job = ANY (:jobs::text[]) OR (job LIKE 'topic:%' AND 'topic:*' = ANY (:jobs::text[])))
    LIMIT :limit::bigint
    FOR UPDATE SKIP LOCKED
))
