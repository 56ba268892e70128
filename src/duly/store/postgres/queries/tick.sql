UPDATE duly_meta SET ticks = ticks + 1
