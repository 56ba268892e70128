-- Three ranges of one index: however long the line is, no more of it is read than is worth counting.
SELECT
    :id,
    (
        SELECT count(*) FROM duly_runs WHERE lane = :id AND schedule_id IS NULL AND hold < 1
    ) + (
        SELECT count(*) FROM duly_runs WHERE lane = :id AND schedule_id IS NULL AND hold > 1
    ),
    (
        SELECT count(*)
        FROM (SELECT 1 FROM duly_runs WHERE lane = :id AND schedule_id IS NULL AND hold = 1 LIMIT :most)
    )
