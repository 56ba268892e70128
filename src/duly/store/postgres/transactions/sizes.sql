SELECT
    c.relname::text,
    pg_total_relation_size(c.oid),
    greatest(c.reltuples, 0)::bigint
FROM pg_class AS c
WHERE c.relname LIKE 'duly\_%' AND c.relkind = 'r' AND pg_table_is_visible(c.oid)
ORDER BY c.relname
