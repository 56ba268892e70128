-- Up to a limit: whoever asks wants to know whether there is room.
SELECT count(*) FROM (
    SELECT 1 FROM duly_schedules
    WHERE tenant = :tenant AND owner = :owner AND deleted_at IS NULL AND ended_at IS NULL
    LIMIT :limit
)
