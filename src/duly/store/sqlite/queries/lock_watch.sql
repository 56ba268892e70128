-- Differs from postgres: no lock, a write transaction is alone.
SELECT since, until, settled, last, gone, wanted FROM duly_watch
