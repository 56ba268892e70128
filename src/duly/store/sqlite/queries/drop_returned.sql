-- Differs from postgres: nobody else writes while insert_runs looks and inserts, so there is nothing to take back.
SELECT NULL WHERE false
