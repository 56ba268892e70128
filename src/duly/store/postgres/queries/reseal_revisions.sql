-- Only if nobody changed it meanwhile.
UPDATE duly.duly_revisions AS p SET payload = n.payload, body = n.body
FROM unnest(:schedule_id::uuid[], :revision::int[], :payload::text[], :body::text[], :was_payload::text[], :was_body::text[])
    AS n (schedule_id, revision, payload, body, was_payload, was_body)
WHERE p.schedule_id = n.schedule_id AND p.revision = n.revision AND p.payload IS NOT DISTINCT FROM n.was_payload
    AND p.body IS NOT DISTINCT FROM n.was_body
