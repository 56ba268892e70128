-- A hint need not survive a crash, so nobody waits for the disk.
SELECT set_config('synchronous_commit', 'off', true), pg_notify(:channel::text, hint)
FROM pg_catalog.unnest(:hints::text[]) AS hint
