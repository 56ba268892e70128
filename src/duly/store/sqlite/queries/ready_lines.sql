SELECT queue, priority FROM duly_lines
