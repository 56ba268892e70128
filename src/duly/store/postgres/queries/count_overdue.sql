SELECT count(*) FROM duly_overdue
