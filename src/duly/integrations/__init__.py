"""duly inside a web framework: one app per program, made of the framework's own settings.

A web process only asks (``app.sync``); what fires and works is a process beside it, started by the framework's own
command (``manage.py duly serve``, ``flask duly serve``), as many of them as one likes. So it does not matter how many
web workers there are, whether they fork, or whether a reloader starts them again. FastAPI and Starlette need nothing
from here: they have an event loop, and ``async with app:`` in their lifespan is all.

Nothing here is imported by the rest of duly.
"""
