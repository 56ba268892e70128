-- Since when the oldest of its kind waits, and what nobody has dealt with: dead letters up to the limit, and the rows
-- of the busy tables that vacuum has still to sweep up.
WITH heads AS MATERIALIZED (
    SELECT l.queue, (
        SELECT r.id FROM duly.duly_runs AS r
        WHERE r.queue = l.queue AND r.priority = l.priority AND r.claimed_by IS NULL AND r.hold = 0
        ORDER BY r.due_at LIMIT 1
    ) AS id
    FROM duly.duly_lines AS l
)
SELECT
    (SELECT min(fire_at) FROM duly.duly_cursors WHERE fire_at IS NOT NULL),
    (SELECT min(r.due_at) FROM heads AS h JOIN duly.duly_runs AS r ON r.id = h.id),
    -- A message that a broker does not take is older than its next try; of webhooks others are in charge.
    (SELECT min(CASE WHEN r.attempt > 0 AND r.queue <> :webhooks::text THEN r.fired_at ELSE r.due_at END)
     FROM heads AS h JOIN duly.duly_runs AS r ON r.id = h.id WHERE starts_with(h.queue, 'target:')),
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_history WHERE status = 'failed' AND acked_at IS NULL ORDER BY id LIMIT :limit::bigint
    ) AS dead),
    pg_stat_get_dead_tuples('duly.duly_runs'::regclass::oid)
        + pg_stat_get_dead_tuples('duly.duly_cursors'::regclass::oid)
