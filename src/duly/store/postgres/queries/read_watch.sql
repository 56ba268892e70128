SELECT
    since, until, settled, last, gone,
    EXISTS (SELECT FROM duly.duly_events AS e WHERE e.number IS NULL)
FROM duly.duly_watch
