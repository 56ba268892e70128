INSERT INTO duly.duly_secrets (name, value) VALUES (:name::text, :value::text)
ON CONFLICT (name) DO NOTHING
