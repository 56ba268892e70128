-- Differs from postgres: a transaction that writes sees all that there is.
SELECT NULL WHERE false
