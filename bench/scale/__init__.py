"""A day of very many schedules, reckoned instead of run: how many databases and workers they ask for."""
