-- Reads the whole history, and so only when there are sessions that may be forgotten.
DELETE FROM duly.duly_ended_instances AS e
WHERE e.session = ANY (:sessions::bigint[])
  AND NOT EXISTS (SELECT FROM duly.duly_history AS h WHERE h.session = e.session)
  AND NOT EXISTS (SELECT FROM duly.duly_attempts AS a WHERE a.session = e.session)
RETURNING e.session
