SELECT
    (SELECT count(*) FROM duly.duly_runs WHERE id = ANY (:ids::uuid[])),
    (SELECT count(*) FROM duly.duly_history WHERE id = ANY (:ids::uuid[]) AND status || '' IN ('failed', 'cancelled')),
    (SELECT max(finished_at + 0) FROM duly.duly_history WHERE id = ANY (:ids::uuid[]))
