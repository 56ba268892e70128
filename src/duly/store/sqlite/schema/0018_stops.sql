-- An audit asks when nothing fired and what is being removed, among however many operations there were.
CREATE INDEX duly_operations_stops ON duly_operations (made_at, id)
    WHERE kind IN ('pause_all', 'resume_all') OR (kind = 'purge' AND status = 'running');
