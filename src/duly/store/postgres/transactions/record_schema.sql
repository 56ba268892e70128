INSERT INTO duly.duly_migrations (number, checksum, applied_at)
VALUES (:number, :checksum, floor(extract(epoch FROM clock_timestamp()) OPERATOR(pg_catalog.*) 1000)::bigint);
UPDATE duly.duly_meta SET schema = :number
