-- Only if nobody changed it meanwhile.
UPDATE duly_inbox SET body = :body
WHERE run_id = :run_id AND n = :n AND body IS :was_body
