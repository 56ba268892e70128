-- The statuses have ages of their own: what is known is how far back a row of any of them may be gone.
UPDATE duly.duly_meta SET purged_before = :finished_before::bigint
WHERE purged_before IS NULL OR purged_before < :finished_before::bigint
