DELETE FROM duly.duly_secrets WHERE name LIKE 'seal:%' AND name <> :name::text
