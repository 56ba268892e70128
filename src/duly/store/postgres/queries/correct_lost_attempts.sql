UPDATE duly.duly_attempts AS a SET outcome = 'interrupted', error = NULL
FROM unnest(:id::uuid[], :fence::bigint[], :session::bigint[]) AS n (id, fence, session)
WHERE a.run_id = n.id AND a.fence = n.fence AND a.session IS NOT DISTINCT FROM n.session AND a.outcome = 'lost'
