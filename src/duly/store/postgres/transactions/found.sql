-- The schema, this role's rights in it, and what carries duly's prefix there. The last column is true if
-- a development version left its tables in the schema public.
SELECT
    n.oid IS NOT NULL,
    current_user::text,
    has_database_privilege(current_database()::text, 'CREATE'::text),
    coalesce(has_schema_privilege(n.oid, 'USAGE'::text), false),
    coalesce(has_schema_privilege(n.oid, 'CREATE'::text), false),
    ARRAY (
        SELECT c.relname::text FROM pg_catalog.pg_class AS c
        WHERE c.relnamespace = n.oid AND starts_with(c.relname::text, 'duly_')
            AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        ORDER BY 1
    ),
    ARRAY (
        SELECT a.attname::text FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
        WHERE c.relnamespace = n.oid AND c.relname = 'duly_meta' AND a.attnum > 0 AND NOT a.attisdropped
    ),
    EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_namespace AS p ON p.oid = c.relnamespace
        WHERE p.nspname = 'public' AND c.relname = 'duly_meta' AND a.attname = 'store_id' AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_class AS m WHERE m.relnamespace = p.oid AND m.relname = 'duly_migrations'
        )
    )
FROM (SELECT :schema::text AS name) AS asked
LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = asked.name
