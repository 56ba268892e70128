SELECT 1 FROM duly.duly_keys LIMIT 1
