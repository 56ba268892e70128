-- Only if nobody changed it meanwhile.
UPDATE duly_changes SET fields = :fields
WHERE schedule_id = :schedule_id AND number = :number AND fields IS :was_fields
