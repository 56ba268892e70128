SELECT
    c.relname::text,
    pg_total_relation_size(c.oid::regclass),
    greatest(c.reltuples, 0)::bigint
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND starts_with(c.relname::text, 'duly_') AND c.relkind = 'r'
ORDER BY 1
