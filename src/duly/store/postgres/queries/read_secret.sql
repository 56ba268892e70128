SELECT value FROM duly.duly_secrets WHERE name = :name::text
