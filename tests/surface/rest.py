"""Derives the REST API from the OpenAPI document and the route table, without titles, descriptions and examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.routing import BaseRoute, Route

from duly import Duly
from duly.api.auth.guard import Guard
from duly.api.health import health_of
from duly.api.http import PREFIX
from duly.api.openapi import document
from duly.api.pages import page_routes
from duly.api.problems import CODES, MEDIA_TYPE
from duly.api.routes import ROUTES
from duly.dashboard.application import dashboard_routes, make_desk
from tests.surface.diff import Tree

JSON = "application/json"
NOT_A_CONSTRAINT = {
    "$ref", "additionalProperties", "anyOf", "description", "enum", "examples", "items", "properties", "required",
    "title",
}  # fmt: skip
Schema = dict[str, Any]


def derive() -> Tree:
    """Return each operation by method and path, each problem code, and the paths outside the API."""
    whole = document()
    schemas = Schemas(whole["components"]["schemas"])
    scopes = {(route.method.lower(), PREFIX + route.path): route.scope for route in ROUTES}
    tree: Tree = {
        f"{method.upper()} {path}": {"scope": scopes[method, path], **_operation(operation, schemas)}
        for path, operations in whole["paths"].items()
        for method, operation in operations.items()
    }
    common = set.intersection(*(set(operation["problem codes"]) for operation in tree.values()))
    for operation in tree.values():
        operation["problem codes"] = sorted(set(operation["problem codes"]) - common)
    tree["every operation"] = {"problem codes": sorted(common)}
    for code, (kind, _) in CODES.items():
        tree[f"problem {code}"] = {"status": kind.status, "type": kind.type}
    tree["problem document"] = {"field": dict(schemas.fields({"$ref": "#/components/schemas/Problem"}))}
    tree |= {f"path {path}": {"methods": methods} for path, methods in _other_paths()}
    return tree


def _operation(operation: dict[str, Any], schemas: Schemas) -> Tree:
    tree: Tree = {}
    for parameter in operation["parameters"]:
        found = schemas.attributes(parameter["schema"])
        if parameter["required"]:
            found["required"] = True
        tree.setdefault(f"{parameter['in']} parameter", {})[parameter["name"]] = found
    if body := operation.get("requestBody"):
        tree["body"] = {
            "required": body["required"],
            "field": dict(schemas.fields(body["content"][JSON]["schema"])),
        }
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        if MEDIA_TYPE in content:
            tree.setdefault("problem codes", []).extend(content[MEDIA_TYPE]["examples"])
            continue
        here: Tree = {"header": sorted(response.get("headers", {}))}
        for media_type, media in content.items():
            here["media type"] = media_type
            here["field"] = dict(schemas.fields(media["schema"]))
        tree[f"response {status}"] = here
    return tree


class Schemas:
    """Flattens schemas into fields such as ``items[].catchUp.policy``, each with its type and bounds."""

    def __init__(self, components: dict[str, Schema]) -> None:
        self._components = components

    def fields(self, schema: Schema, path: str = "", inside: tuple[str, ...] = ()) -> Iterator[tuple[str, Tree]]:
        """Yield the fields of an object, or of the objects in a list. A recursive type is followed once."""
        for variant in self._variants(schema):
            name = variant.get("title", "")
            if name and name in inside:
                continue
            required = variant.get("required", ())
            for field, inner in variant.get("properties", {}).items():
                here = f"{path}.{field}" if path else field
                yield here, {**self.attributes(inner), "required": field in required}
                yield from self.fields(inner, here, (*inside, name))
            for inner, here in (
                (variant.get("items"), f"{path}[]"),
                (variant.get("additionalProperties"), f"{path}.*"),
            ):
                if isinstance(inner, dict):
                    yield here, self.attributes(inner)
                    yield from self.fields(inner, here, (*inside, name))

    def attributes(self, schema: Schema) -> Tree:
        """Return the type, choices and bounds of one value."""
        found: Tree = {}
        types: set[str] = set()
        choices: list[Any] = []
        for variant in self._variants(schema):
            types.add(variant.get("type") or ("string" if "enum" in variant else "any"))
            choices += variant.get("enum", ())
            found |= {name: value for name, value in variant.items() if name not in NOT_A_CONSTRAINT}
        if "default" in schema:
            found["default"] = schema["default"]
        if choices:
            found["choices"] = sorted(choices)
        return {**found, "type": " | ".join(sorted(types))}

    def _variants(self, schema: Schema) -> Iterator[Schema]:
        if "$ref" in schema:
            yield from self._variants(self._components[schema["$ref"].rpartition("/")[2]])
        elif "anyOf" in schema:
            for variant in schema["anyOf"]:
                yield from self._variants(variant)
        else:
            yield schema


def _other_paths() -> Iterator[tuple[str, list[str]]]:
    """Yield the paths outside ``/api/v1`` with their methods: health, metrics, the document, the dashboard."""
    app = Duly("sqlite:///never-opened.db")
    methods: dict[str, set[str]] = {path: {"GET", "HEAD"} for path in health_of(app).answers}
    routes: list[BaseRoute] = [*page_routes(), *dashboard_routes(make_desk(app, Guard(app)))]
    for route in routes:
        assert isinstance(route, Route)
        methods.setdefault(route.path, set()).update(route.methods or {"any"})
    return ((path, sorted(found)) for path, found in sorted(methods.items()))
