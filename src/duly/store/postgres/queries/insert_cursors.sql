INSERT INTO duly_cursors (
    schedule_id, revision, status, window_at, next_window_at, fire_at, slot, fired, failures, last_fired_at, error,
    tenant
)
SELECT *
FROM unnest(
    :schedule_id::uuid[], :revision::int[], :status::text[], :window_at::bigint[], :next_window_at::bigint[],
    :fire_at::bigint[], :slot::bigint[], :fired::bigint[], :failures::int[], :last_fired_at::bigint[], :error::text[],
    :tenant::text[]
)
ON CONFLICT DO NOTHING
