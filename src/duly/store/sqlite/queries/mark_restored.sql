-- Only one of those who notice the same restore raises the epoch.
UPDATE duly_meta SET
    epoch = epoch + 1, restored_at = :now, firing_paused_at = coalesce(firing_paused_at, :now),
    firing_paused_by = :by, firing_pause_reason = :reason
WHERE epoch = :epoch
RETURNING epoch
