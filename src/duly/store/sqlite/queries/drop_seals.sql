DELETE FROM duly_secrets WHERE name GLOB 'seal:*' AND name <> :name
