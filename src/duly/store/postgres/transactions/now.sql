SELECT floor(extract(epoch FROM clock_timestamp()) OPERATOR(pg_catalog.*) 1000)::bigint
