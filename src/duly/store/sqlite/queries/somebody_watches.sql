SELECT 1 FROM duly_watch WHERE until > :now
