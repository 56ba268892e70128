-- Reads the whole history, and so only when there are sessions that may be forgotten.
DELETE FROM duly_ended_instances
WHERE session IN (SELECT value FROM json_each(:sessions))
  AND session NOT IN (SELECT session FROM duly_history WHERE session IS NOT NULL)
  AND session NOT IN (SELECT session FROM duly_attempts WHERE session IS NOT NULL)
RETURNING session
