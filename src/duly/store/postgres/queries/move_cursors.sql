-- Spread: see insert_runs.
UPDATE duly.duly_cursors AS c
SET revision = coalesce(n.revision, (:revision::int[])[1]), status = coalesce(n.status, (:status::text[])[1]),
    window_at = n.window_at, next_window_at = n.next_window_at, fire_at = n.fire_at,
    slot = coalesce(n.slot, (:slot::bigint[])[1]), fired = coalesce(n.fired, (:fired::bigint[])[1]),
    failures = coalesce(n.failures, (:failures::int[])[1]), last_fired_at = n.last_fired_at, error = n.error
FROM unnest(
    :schedule_id::uuid[], :revision::int[], :status::text[], :window_at::bigint[], :next_window_at::bigint[],
    :fire_at::bigint[], :slot::bigint[], :fired::bigint[], :failures::int[], :last_fired_at::bigint[], :error::text[]
) AS n (
    schedule_id, revision, status, window_at, next_window_at, fire_at, slot, fired, failures, last_fired_at, error
)
WHERE c.schedule_id = n.schedule_id
