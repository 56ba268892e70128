UPDATE duly.duly_runs AS r
SET payload = n.payload, due_at = n.due_at, window_at = n.due_at
FROM unnest(:id::uuid[], :payload::text[], :due_at::bigint[]) AS n (id, payload, due_at)
WHERE r.id = ANY (:id::uuid[]) AND r.id = n.id
