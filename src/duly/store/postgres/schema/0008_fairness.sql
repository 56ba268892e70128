-- Fair shares between keys, and the newest first. The key that was served last is where the next claim goes on.
ALTER TABLE duly_queues
    ADD COLUMN fair boolean NOT NULL DEFAULT false,
    ADD COLUMN newest_first boolean NOT NULL DEFAULT false,
    ADD COLUMN served text COLLATE "C";

-- Only runs of fair queues, and those that were given a key, have one and an entry here: the others pay nothing.
ALTER TABLE duly_runs ADD COLUMN fair_key text COLLATE "C";
CREATE INDEX duly_runs_fair ON duly_runs (queue, priority DESC, fair_key, due_at, slot)
    WHERE claimed_by IS NULL AND hold = 0 AND fair_key IS NOT NULL;
