-- Only what nobody has ever begun, and what is not due yet, still takes events in.
SELECT id, payload, due_at, fired_at
FROM duly_runs
WHERE id IN (SELECT value FROM json_each(:ids)) AND fence = 0 AND claimed_by IS NULL AND hold = 0
  AND cancel_at IS NULL AND due_at > :now
