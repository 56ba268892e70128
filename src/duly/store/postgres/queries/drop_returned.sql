-- Follows insert_runs, which waits for whoever is ending a run of the same id and then inserts it again: it had looked at
-- the history before that wait. This one begins afterwards and takes back what has ended, which is nearly always nothing.
DELETE FROM duly.duly_runs AS r
WHERE r.id = ANY (ARRAY(SELECT h.id FROM duly.duly_history AS h WHERE h.id = ANY (:ids::uuid[]))) AND r.fence = 0
RETURNING r.id::text
