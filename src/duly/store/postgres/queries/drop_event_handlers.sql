-- Those of these jobs that are not among the ones to be kept.
DELETE FROM duly.duly_event_handlers AS e
WHERE e.job = ANY (:jobs::text[])
  AND NOT EXISTS (
    SELECT FROM unnest(:events::text[], :handlers::text[]) AS k (event, job) WHERE k.event = e.event AND k.job = e.job
)
RETURNING e.event
