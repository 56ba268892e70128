"""For servers of WSGI: ``gunicorn storefront.wsgi --workers 4``."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.settings")
application = get_wsgi_application()
