-- Only one of those who notice the same restore raises the epoch.
UPDATE duly.duly_meta SET
    epoch = epoch + 1, restored_at = :now::bigint, firing_paused_at = coalesce(firing_paused_at, :now::bigint),
    firing_paused_by = :by::text, firing_pause_reason = :reason::text
WHERE epoch = :epoch::bigint
RETURNING epoch
