WITH gone AS (
    DELETE FROM duly.duly_runs
    WHERE id = ANY (:id::uuid[]) AND claimed_by IS NULL AND hold = coalesce(:hold::smallint, hold)
    RETURNING *
), kept AS (
    INSERT INTO duly.duly_history (
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, due_at, fired_at, started_at, finished_at, payload
    )
    SELECT
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, :status::text, :reason::text, attempt,
        max_attempts, fence, due_at, fired_at, started_at, :now::bigint, payload
    FROM gone
    ON CONFLICT DO NOTHING
)
SELECT id::text FROM gone
