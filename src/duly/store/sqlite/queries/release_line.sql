UPDATE duly_runs SET hold = 0
WHERE id IN (
    SELECT id FROM duly_runs
    WHERE lane = :id AND schedule_id IS NULL AND hold = 1
    ORDER BY slot
    LIMIT :free
)
RETURNING id
