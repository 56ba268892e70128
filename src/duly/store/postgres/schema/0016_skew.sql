-- How far the store's clock was ahead of the instance's own at its last heartbeat but one.
ALTER TABLE duly_instances ADD COLUMN skew_ms bigint;
