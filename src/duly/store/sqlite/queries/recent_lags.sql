-- How many ms after its time each of the newest windows fired, of those that ended at their first attempt.
SELECT max(0, fired_at - due_at)
FROM (
    SELECT h.fired_at, h.due_at, h.kind, h.status, h.attempt FROM duly_history AS h
    WHERE h.id < printf('%08x-%04x', :ahead >> 16, :ahead & 65535)
    ORDER BY h.id DESC LIMIT :limit
)
WHERE kind = 'window' AND status <> 'skipped' AND attempt <= 1
