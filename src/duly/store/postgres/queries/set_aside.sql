-- Only as it was tried: who has moved it since has dealt with the window.
UPDATE duly.duly_cursors
SET fire_at = :until::bigint, error = :error::text
WHERE schedule_id = :schedule_id::uuid AND fire_at = :fire_at::bigint
RETURNING schedule_id::text
