SELECT session FROM duly_ended_instances WHERE ended_at < :ended_before ORDER BY ended_at LIMIT :limit
