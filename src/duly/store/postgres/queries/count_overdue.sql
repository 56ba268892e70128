SELECT count(*) FROM duly.duly_overdue
