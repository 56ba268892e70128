SELECT value FROM duly_secrets WHERE name = :name::text
