SELECT
    pg_is_in_recovery(),
    current_setting('fsync'),
    current_setting('full_page_writes'),
    current_setting('synchronous_commit'),
    current_setting('server_encoding')
