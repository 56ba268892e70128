-- Until the claim has committed, nobody can declare the session dead.
SELECT 1 FROM duly.duly_instances WHERE session = :session::bigint FOR KEY SHARE
