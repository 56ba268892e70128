-- Where a page that looks at so many open runs and so many ended ones ends; null if there are fewer of both.
SELECT max(id) FROM (
    SELECT id FROM (
        SELECT id FROM duly_history
        WHERE :owner IS NULL AND id < coalesce(:after, 'g') ORDER BY id DESC LIMIT 1 OFFSET :most
    )
    UNION ALL
    SELECT id FROM (
        SELECT id FROM duly_runs
        WHERE :owner IS NULL AND id < coalesce(:after, 'g') ORDER BY id DESC LIMIT 1 OFFSET :most
    )
)
