-- Of what is open, also what has no window: an interval that counts from the end of a run waits for it.
-- An id starts with the instant of its newest window, in hex: what is older than the period is not touched.
SELECT schedule_id, id, revision, window_at, NULL, NULL, fired_at, NULL, NULL, kind
FROM duly_runs
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT schedule_id, id, revision, window_at, since, windows, fired_at, finished_at, status, kind
FROM duly_history
WHERE schedule_id IN (SELECT value FROM json_each(:ids)) AND kind = 'window'
    AND id >= printf('%08x-%04x', :since >> 16, :since & 65535)
