SELECT r.id::text, true FROM duly.duly_runs AS r WHERE r.id = ANY (:ids::uuid[])
UNION ALL
SELECT h.id::text, false FROM duly.duly_history AS h WHERE h.id = ANY (:ids::uuid[])
