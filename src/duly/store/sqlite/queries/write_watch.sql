UPDATE duly_watch SET since = :since, until = :until, settled = :settled, last = :last, gone = :gone
