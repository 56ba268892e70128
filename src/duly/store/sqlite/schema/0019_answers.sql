-- Runs that await an answer from outside, by when it has to be there.
CREATE INDEX duly_runs_unanswered ON duly_runs (due_at) WHERE hold = 3 AND claimed_by IS NULL;
