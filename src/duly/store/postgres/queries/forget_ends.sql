-- The end of a child that goes again has not been told yet.
DELETE FROM duly.duly_inbox AS i
USING unnest(:run_id::uuid[], :position::bigint[]) AS n (run_id, position)
WHERE i.run_id = n.run_id AND i.kind = 'child' AND i.name = n.position::text
