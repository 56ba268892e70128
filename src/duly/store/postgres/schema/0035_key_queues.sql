-- A worker's key may be for some queues only: a JSON list, null for all.
ALTER TABLE duly_keys ADD COLUMN queues text COLLATE "C";
