-- Those of these jobs that are not among the ones to be kept.
DELETE FROM duly_event_handlers
WHERE job IN (SELECT value FROM json_each(:jobs))
  AND NOT EXISTS (
    SELECT 1 FROM json_each(:events) AS k, json_each(:handlers) AS h
    WHERE k.key = h.key AND k.value = duly_event_handlers.event AND h.value = duly_event_handlers.job
)
RETURNING event
