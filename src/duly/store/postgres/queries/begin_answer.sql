-- A receiver has begun: its time counts from now. Where the delivery is not written yet, that will set the time.
UPDATE duly.duly_runs SET started_at = :now::bigint, due_at = CASE WHEN hold = 3 THEN :answer_by::bigint ELSE due_at END
WHERE id = :id::uuid AND fence = :fence::bigint AND (claimed_by IS NOT NULL OR hold = 3)
RETURNING id::text
