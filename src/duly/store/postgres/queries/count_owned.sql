-- Up to a limit: whoever asks wants to know whether there is room.
SELECT count(*) FROM (
    SELECT FROM duly.duly_schedules
    WHERE tenant = :tenant::text AND owner = :owner::text AND deleted_at IS NULL AND ended_at IS NULL
    LIMIT :limit::bigint
) AS owned
