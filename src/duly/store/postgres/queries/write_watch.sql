UPDATE duly.duly_watch SET
    since = :since::bigint, until = :until::bigint, settled = :settled::boolean, last = :last::bigint,
    gone = :gone::bigint
