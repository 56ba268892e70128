SELECT attname::text
FROM pg_attribute
WHERE attrelid = to_regclass('duly_meta') AND attnum > 0 AND NOT attisdropped
