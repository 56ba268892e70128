-- Of what is open, also what has no window: an interval that counts from the end of a run waits for it.
-- An id starts with the instant of its newest window, in hex: what is older than the period is not touched.
SELECT schedule_id::text, id::text, revision, window_at, NULL::bigint, NULL::int, fired_at, NULL::bigint, NULL::text, kind
FROM duly.duly_runs
WHERE schedule_id = ANY (:ids::uuid[])
UNION ALL
SELECT schedule_id::text, id::text, revision, window_at, since, windows, fired_at, finished_at, status, kind
FROM duly.duly_history
WHERE schedule_id = ANY (:ids::uuid[]) AND kind = 'window'
  AND id >= rpad(lpad(to_hex(:since::bigint), 12, '0'), 32, '0')::uuid
