"""A real Chromium that looks at real pages. Whatever it finds wrong on the way fails the test that looks."""

import asyncio
import contextlib
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from duly import Duly
from duly.api.application import application
from duly.api.auth.guard import Guard
from duly.dashboard.application import dashboard_routes, make_desk
from tests.api.conftest import sqlite_url
from tests.conftest import need
from tests.servers import ServerAbsent

PATIENCE = 40_000
"""Milliseconds; only what never comes takes as long, however busy the machine is."""

expect.set_options(timeout=PATIENCE)

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


IN_THE_BROWSERS_LOOP = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]
"""What every file here sets as its ``pytestmark``: a browser lives in the loop that it was started in, and is slow."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with need("chromium"):
        if program is None:
            raise ServerAbsent("chromium", f"none of {', '.join(PROGRAMS)} is installed")
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=3 * PATIENCE)
        yield started
        await started.close()


@dataclass
class Window:
    """A page of one visitor, and everything that was wrong with what it showed."""

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    """Parts of complaints that a test provokes on purpose."""

    async def visit(self, path: str) -> None:
        await self.page.goto(self.url + path)

    def check(self) -> None:
        unexpected = [said for said in self.wrong if not any(part in said for part in self.allowed)]
        assert not unexpected, unexpected

    def _watch(self) -> None:
        self.page.on(
            "console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.wrong.append(f"uncaught: {error}"))
        self.page.on("request", lambda request: self._requested(request.url))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"a dialog: {dialog.message}"))

    def _requested(self, url: str) -> None:
        if not url.startswith((self.url, "data:", "blob:", "about:")):
            self.wrong.append(f"a request to elsewhere: {url}")


class Site:
    """A served app and its visitors."""

    def __init__(self, app: Duly, url: str, browser: Browser) -> None:
        self.app = app
        self.url = url
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.windows: list[Window] = []

    async def open(self, path: str = "/", *, phone: bool = False, dark: bool = False, script: bool = True) -> Window:
        """A window of a visitor of their own, on a page."""
        context = await self._browser.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 860},
            color_scheme="dark" if dark else "light",
            timezone_id="Europe/Berlin",
            java_script_enabled=script,
        )
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        window = Window(await context.new_page(), self.url)
        window._watch()
        self.windows.append(window)
        await window.visit(path)
        return window

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()


@asynccontextmanager
async def serving(served: object) -> AsyncIterator[str]:
    """Serve an ASGI application on a port of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(served, lifespan="off", log_config=None, timeout_graceful_shutdown=1))  # type: ignore[arg-type]
    running.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    task = asyncio.create_task(running.serve([listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        running.should_exit = True
        await task


def whole_site(app: Duly) -> object:
    """The API with the dashboard, as ``duly serve`` has them."""
    guard = Guard(app)
    return application(app, guard=guard, routes=dashboard_routes(make_desk(app, guard)))


@pytest_asyncio.fixture(loop_scope="session")
async def app(tmp_path: Path) -> AsyncIterator[Duly]:
    """An app that is open; a test that wants fires and runs starts it."""
    app = Duly(sqlite_url(tmp_path))
    await app.open()
    yield app
    await app.close()


@pytest_asyncio.fixture(loop_scope="session")
async def site(app: Duly, browser: Browser) -> AsyncIterator[Site]:
    """The dashboard of ``app``; at the end no window may have complained."""
    async with serving(whole_site(app)) as url:
        site = Site(app, url, browser)
        try:
            yield site
        finally:
            await site.close()
    for window in site.windows:
        window.check()
