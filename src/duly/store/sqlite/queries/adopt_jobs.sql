UPDATE duly_runs SET hold = 0
WHERE rowid IN (
    SELECT rowid FROM duly_runs
    WHERE hold = 2
      AND (job IN (SELECT value FROM json_each(:jobs))
        OR (job GLOB 'topic:*' AND 'topic:*' IN (SELECT value FROM json_each(:jobs))))
    LIMIT :limit
)
