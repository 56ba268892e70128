-- A transaction that looks at one moment all along (REPEATABLE READ) counts runs that have ended since. Who holds such a
-- one is refused as 40001, instead of waiting for an end that has been; one that is open ends after the commit.
SELECT r.id::text
FROM duly.duly_runs AS r
WHERE current_setting('transaction_isolation') <> 'read committed'
  AND r.id = ANY (ARRAY(
    SELECT n.id FROM pg_catalog.unnest(:ids::uuid[]) AS n (id)
    UNION
    SELECT i.id FROM duly.duly_runs AS i WHERE i.lane = ANY (:lanes::uuid[]) AND i.schedule_id IS NULL AND i.hold <> 1
))
ORDER BY r.id
FOR KEY SHARE
