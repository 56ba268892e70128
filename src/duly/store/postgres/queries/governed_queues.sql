SELECT name FROM duly.duly_queues WHERE governed
