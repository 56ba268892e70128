INSERT INTO duly_secrets (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO NOTHING
