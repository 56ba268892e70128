-- Runs that were lost before wait apart from the others (hold 5); nearly always there is none, and then this is empty.
CREATE INDEX duly_runs_suspects ON duly_runs (queue, priority DESC, due_at, slot)
    WHERE claimed_by IS NULL AND hold = 5;
