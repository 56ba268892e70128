-- Since when a run has been told to undo what it did and to end as cancelled.
ALTER TABLE duly_runs ADD COLUMN undo_at INTEGER;
