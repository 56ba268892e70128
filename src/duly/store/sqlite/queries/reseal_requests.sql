-- Only if nobody changed it meanwhile.
UPDATE duly_requests SET answer = :answer
WHERE tenant = :tenant AND key = :key AND answer IS :was_answer
