"""Templates become HTML. Every value is escaped; what templates need beside their values is made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.runtime import Context
from markupsafe import Markup

from duly.core.version import VERSION
from duly.runtime.clock import Clock

from . import words
from .page import Page, Part, Values, View
from .static_files import StaticFiles

FOLDER = Path(__file__).parent / "templates"
BACK = "back"
TOKEN = "token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What stands around a page: the navigation, what is to be said, the token of its forms, light or dark."""

    navigation: Sequence[tuple[str, str]]
    token: str
    said: Mapping[str, Any] | None = None
    theme: str = ""
    session: bool = False


class Renderer:
    """All templates, compiled when they are first asked for, or ahead of it, and then kept."""

    def __init__(self, files: StaticFiles, clock: Clock) -> None:
        self.files = files
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters.update(words.filters(clock))
        self._environment.globals["version"] = VERSION
        # A part is rendered by itself, without what stands at the top of its template: pieces are there for all.
        pieces = self._environment.get_template("pieces.html").module
        self._environment.globals.update({name: value for name, value in vars(pieces).items() if name[0] != "_"})

    def compile_all(self) -> None:
        """Compile every template, so that whoever comes first does not wait for it; in any thread."""
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def page(self, page: Page, view: View, values: Values, around: Around, allowed: Sequence[Part]) -> str:
        """A whole page."""
        template = self._environment.get_template(page.template)
        title = page.title if isinstance(page.title, str) else page.title(values)
        return template.render(self._context(view, values, around, allowed), title=title, around=around)

    def parts(self, page: Page, view: View, values: Values, around: Around, parts: Sequence[Part]) -> dict[str, str]:
        """Some parts of a page, each by itself."""
        template = self._environment.get_template(page.template)
        shared = self._context(view, values, around, parts)

        def rendered(part: Part) -> str:
            context: Context = template.new_context(shared)
            return "".join(template.blocks[part.name](context))

        return {part.name: rendered(part) for part in parts}

    def plain(self, template: str, view: View, values: Values, around: Around) -> str:
        """A page without parts: the login, an error."""
        return self._environment.get_template(template).render(self._context(view, values, around, ()), around=around)

    def _context(self, view: View, values: Values, around: Around, parts: Sequence[Part]) -> dict[str, Any]:
        known = {part.name: part for part in parts}

        def live(name: str) -> Markup:
            """The attributes of an element that holds a part."""
            part = known[name]
            every = Markup("") if part.every is None else Markup(' data-every="{}"').format(part.every)
            return (
                Markup('id="part-{}" data-part="{}" data-on="{}" data-least="{}"').format(
                    name, name, " ".join(part.on), part.least
                )
                + every
            )

        def form_fields() -> Markup:
            """What every form that posts has to hold."""
            return Markup(
                '<input type="hidden" name="{}" value="{}"><input type="hidden" name="{}" value="{}">'
            ).format(TOKEN, around.token, BACK, view.here().removeprefix(view.base))

        return {
            **values,
            "view": view,
            "url": view.url,
            "here": view.here,
            "may": view.may,
            "shown": known,
            "live": live,
            "form_fields": form_fields,
            "scripts": ["main.js", *self.files.imported("main.js")],
            "static": lambda name: view.url(self.files.path(name)),
        }
