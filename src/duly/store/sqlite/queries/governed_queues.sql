SELECT name FROM duly_queues WHERE governed
