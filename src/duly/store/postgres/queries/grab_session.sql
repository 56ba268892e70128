-- As hold_session, for a fire: it holds cursors, and waits for nobody. Who declares the session dead may wait for them.
SELECT 1 FROM duly.duly_instances WHERE session = :session::bigint FOR KEY SHARE SKIP LOCKED
