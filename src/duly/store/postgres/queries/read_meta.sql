-- Where the tables live: a restored dump has made them anew, under another number.
SELECT
    store_id, epoch, ticks, firing_paused_at, firing_paused_by, firing_pause_reason, restored_at, home,
    'duly.duly_meta'::regclass::oid::text
FROM duly.duly_meta
