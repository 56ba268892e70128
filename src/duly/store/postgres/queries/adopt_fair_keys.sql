-- A queue became fair while runs waited in it, or while some were on their way.
UPDATE duly.duly_runs SET fair_key = tenant
WHERE id = ANY (ARRAY(
    SELECT r.id
    FROM duly.duly_queues AS q
    CROSS JOIN LATERAL (
        SELECT id FROM duly.duly_runs
        WHERE claimed_by IS NULL AND hold = 0 AND queue = q.name AND fair_key IS NULL
        LIMIT :limit::bigint
    ) AS r
    WHERE q.fair AND q.updated_at >= :changed_after::bigint
    LIMIT :limit::bigint
)) AND fair_key IS NULL
RETURNING 1
