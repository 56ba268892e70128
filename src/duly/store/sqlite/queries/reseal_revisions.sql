-- Only if nobody changed it meanwhile.
UPDATE duly_revisions SET payload = :payload, body = :body
WHERE schedule_id = :schedule_id AND revision = :revision AND payload IS :was_payload AND body IS :was_body
