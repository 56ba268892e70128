UPDATE duly.duly_meta SET ticks = ticks + 1
