"""Apps on each store, with short leases."""

from tests.app.conftest import app, make_app, url

__all__ = ["app", "make_app", "url"]
