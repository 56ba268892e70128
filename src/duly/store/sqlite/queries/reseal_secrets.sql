-- Only if nobody changed it meanwhile.
UPDATE duly_secrets SET value = :value
WHERE name = :name AND value IS :was_value
