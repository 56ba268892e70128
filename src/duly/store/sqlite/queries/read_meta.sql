-- Differs from postgres: a file has no home, what was seen of it is written beside it.
SELECT
    store_id, epoch, ticks, firing_paused_at, firing_paused_by, firing_pause_reason, restored_at, home,
    NULL
FROM duly_meta
