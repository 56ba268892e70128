-- Retention has deleted rows of windows before this instant, perhaps: an audit cannot tell whether they were missed.
ALTER TABLE duly_meta ADD COLUMN purged_before bigint;
