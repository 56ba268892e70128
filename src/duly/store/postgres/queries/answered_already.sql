-- What is left of an attempt that awaits nothing any more: the run's end, or the attempt's record.
SELECT 'ended', status, reason FROM duly.duly_history WHERE id = :id::uuid AND fence = :fence::bigint
UNION ALL
SELECT 'tried', outcome, NULL FROM duly.duly_attempts WHERE run_id = :id::uuid AND fence = :fence::bigint
