-- Locked until the commit: who takes the role over waits for what is fired under the old term.
SELECT 1 FROM duly.duly_leases
WHERE role = :role::text AND session = :session::bigint AND term = :term::bigint
FOR SHARE
