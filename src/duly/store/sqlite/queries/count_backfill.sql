SELECT
    (SELECT count(*) FROM duly_runs WHERE id IN (SELECT value FROM json_each(:ids))),
    (SELECT count(*) FROM duly_history
     WHERE id IN (SELECT value FROM json_each(:ids)) AND +status IN ('failed', 'cancelled')),
    (SELECT max(finished_at) FROM duly_history WHERE id IN (SELECT value FROM json_each(:ids)))
