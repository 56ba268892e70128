-- How many ms after its time each of the newest windows fired, of those that ended at their first attempt.
SELECT greatest(0, fired_at - due_at)
FROM (
    SELECT h.fired_at, h.due_at, h.kind, h.status, h.attempt FROM duly.duly_history AS h
    WHERE h.id < rpad(lpad(to_hex(:ahead::bigint), 12, '0'), 32, '0')::uuid
    ORDER BY h.id DESC LIMIT :limit::bigint
) AS newest
WHERE kind = 'window' AND status <> 'skipped' AND attempt <= 1
