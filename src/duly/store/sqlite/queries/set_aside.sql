-- Only as it was tried: who has moved it since has dealt with the window.
UPDATE duly_cursors
SET fire_at = :until, error = :error
WHERE schedule_id = :schedule_id AND fire_at = :fire_at
RETURNING schedule_id
