-- Whoever gives numbers holds this row until they are committed, so a number is never seen after a higher one.
SELECT since, until, settled, last, gone, wanted FROM duly.duly_watch FOR UPDATE
