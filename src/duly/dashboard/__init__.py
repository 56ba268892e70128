"""The dashboard: pages for people, made on the server, that refresh their parts when something changes.

    request --serving.py--> View --page's parts--> values --templates/--> HTML

A page is one file here and one template: ``page.py`` says what it consists of, ``pages.py`` lists them all. Pages ask
and act through ``duly.api.operations``, as the caller: they never show or do what the API would not. ``live.py`` tells
an open page which topics changed; ``static/live.js`` then fetches the parts that show them.
"""

from .application import dashboard

__all__ = ["dashboard"]
