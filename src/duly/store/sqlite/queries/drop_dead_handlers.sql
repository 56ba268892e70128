DELETE FROM duly_dead_handlers
WHERE job IN (SELECT value FROM json_each(:jobs))
