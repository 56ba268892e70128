-- What carries our prefix and would be met by an unqualified name, or lies where we would create.
SELECT c.relname::text
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relname LIKE 'duly\_%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (pg_table_is_visible(c.oid) OR n.nspname = current_schema())
ORDER BY c.relname
