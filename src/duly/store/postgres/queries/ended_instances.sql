SELECT session FROM duly.duly_ended_instances WHERE ended_at < :ended_before::bigint ORDER BY ended_at LIMIT :limit::bigint
