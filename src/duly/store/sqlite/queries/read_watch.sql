SELECT since, until, settled, last, gone, EXISTS (SELECT 1 FROM duly_events WHERE number IS NULL)
FROM duly_watch
