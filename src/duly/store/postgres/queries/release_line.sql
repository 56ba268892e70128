UPDATE duly.duly_runs SET hold = 0
WHERE id = ANY (ARRAY(
    SELECT waiting.id
    FROM unnest(:id::uuid[], :free::bigint[]) AS n (id, free)
    CROSS JOIN LATERAL (
        SELECT r.id FROM duly.duly_runs AS r
        WHERE r.lane = n.id AND r.schedule_id IS NULL AND r.hold = 1
        ORDER BY r.slot
        LIMIT n.free
    ) AS waiting
))
RETURNING id::text
