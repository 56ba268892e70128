"""Pages for people: what is here, and the API's own page, which needs nothing from elsewhere."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from pathlib import Path as File
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from .openapi import document_bytes

# Swagger UI sets styles on elements; scripts come from here only.
_DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self';"
    " frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
_SWAGGER_UI: Final = File(__file__).with_name("swagger_ui")
_ASSETS: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}

_DOCS = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>duly API</title>
<link rel="stylesheet" href="{root}/docs/swagger-ui.css">
<link rel="icon" href="{root}/docs/favicon-32x32.png">
</head>
<body>
<div id="api" data-document="{root}/openapi.json"></div>
<script src="{root}/docs/swagger-ui-bundle.js"></script>
<script src="{root}/docs/start.js"></script>
</body>
</html>
"""

_START = """const place = document.getElementById("api");
SwaggerUIBundle({
  url: place.dataset.document,
  dom_id: "#api",
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
});
"""

_HOME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>duly</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; }}</style>
</head>
<body>
<h1>duly</h1>
<p>A durable job scheduler. This is its API:</p>
<ul>
<li><a href="{root}/docs">/docs</a>: every call, to read and to try</li>
<li><a href="{root}/openapi.json">/openapi.json</a>: the same for programs</li>
<li><a href="{root}/api/v1/schedules">/api/v1/schedules</a>: the schedules</li>
<li><a href="{root}/api/v1/runs">/api/v1/runs</a>: the runs</li>
</ul>
</body>
</html>
"""


def page_routes() -> list[BaseRoute]:
    """``/``, ``/docs`` and ``/openapi.json``."""
    return [
        Route("/", _home),
        Route("/docs", _docs),
        Route("/docs/start.js", _start),
        Route("/docs/{name}", _asset),
        Route("/openapi.json", _document),
    ]


async def _home(request: Request) -> Response:
    return _html(_HOME, request, _PAGE_POLICY)


async def _docs(request: Request) -> Response:
    return _html(_DOCS, request, _DOCS_POLICY)


async def _start(request: Request) -> Response:
    return Response(_START, media_type="text/javascript")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return Response(_read_asset(name), media_type=_ASSETS[name], headers={"cache-control": "max-age=3600"})


async def _document(request: Request) -> Response:
    return Response(document_bytes(request.scope.get("root_path", "")), media_type="application/json")


def _html(page: str, request: Request, policy: str) -> HTMLResponse:
    root = escape(request.scope.get("root_path", ""))
    return HTMLResponse(page.format(root=root), headers={"content-security-policy": policy})


@lru_cache(maxsize=len(_ASSETS))
def _read_asset(name: str) -> bytes:
    return (_SWAGGER_UI / name).read_bytes()
