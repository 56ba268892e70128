SELECT
    pg_is_in_recovery(),
    current_setting('fsync'),
    current_setting('full_page_writes'),
    current_setting('synchronous_commit'),
    current_setting('server_encoding'),
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int,
    current_setting('max_connections')::int,
    (SELECT extract(epoch FROM clock_timestamp() - min(xact_start))::bigint FROM pg_stat_activity
     WHERE backend_xmin IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid())
