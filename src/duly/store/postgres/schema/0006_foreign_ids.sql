-- Runs whose id a caller chose and that does not start with an instant: retention finds them by their end. A window's
-- run never has such an id, and fails the first test.
CREATE INDEX duly_history_foreign ON duly_history (finished_at)
    WHERE kind IN ('direct', 'manual') AND substr(id::text, 15, 1) <> '7';
