-- What is left of an attempt that awaits nothing any more: the run's end, or the attempt's record.
SELECT 'ended', status, reason FROM duly_history WHERE id = :id AND fence = :fence
UNION ALL
SELECT 'tried', outcome, NULL FROM duly_attempts WHERE run_id = :id AND fence = :fence
