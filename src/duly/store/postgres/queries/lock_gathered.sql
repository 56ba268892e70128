-- Only what nobody has ever begun, and what is not due yet, still takes events in.
SELECT id::text, payload, due_at, fired_at
FROM duly.duly_runs
WHERE id = ANY (:ids::uuid[]) AND fence = 0 AND claimed_by IS NULL AND hold = 0 AND cancel_at IS NULL
  AND due_at > :now::bigint
ORDER BY id
FOR UPDATE
