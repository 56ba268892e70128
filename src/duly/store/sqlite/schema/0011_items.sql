-- What became of each schedule that an operation was asked to change by name, and of those that it could not change.
ALTER TABLE duly_operations ADD COLUMN items TEXT;
