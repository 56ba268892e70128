"""``duly health``: whether a server is ready, in one small request. Needs neither a database nor the client."""

from __future__ import annotations

import click

from .options import choices_of, common_options, output_options
from .printing import Sheet, printer
from .reach import load_config

WITHIN = 2.0
READ = 10_000
_ANY = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}


@click.command()
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=WITHIN, metavar="SECONDS",
              help="How long it may take to answer; 2 unless said.")  # fmt: skip
@output_options
@common_options
@click.pass_context
def command(ctx: click.Context, timeout: float) -> None:
    """Ask a server whether it is ready: --server, else the one that the settings of this machine describe.

    Exit code 0 if it is, 1 if it is not or does not answer.

    \b
    duly health
    duly health --server http://127.0.0.1:8080 --timeout 5
    """
    loaded = load_config(choices_of(ctx))
    url = loaded["api.url"] or _own(loaded["api.host"], loaded["api.port"])
    why = _why_not(f"{url.rstrip('/')}/readyz", timeout)
    out = printer()
    value = {"server": url, "ready": why is None, "why": why}
    rows = [("server", url), ("status", "ok" if why is None else f"failed: {why}")]
    out.show(value, lambda: Sheet(rows), names=[url])
    ctx.exit(0 if why is None else 1)


def _own(host: str, port: int) -> str:
    near = _ANY.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{near}:{port}"


def _why_not(url: str, timeout: float) -> str | None:
    """Why the server is not ready; None if it is."""
    import http.client
    import urllib.error
    import urllib.request

    if not url.startswith(("http://", "https://")):
        return "this is no http URL"
    # Beside a server nobody wants a proxy in between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=timeout) as reply:
            return None if _is_ours(reply.read(READ)) else "it answers, but not as duly does: is the URL right?"
    except urllib.error.HTTPError as error:
        return f"it answers {error.code}: {error.read(500).decode(errors='replace')}"
    except urllib.error.URLError as error:
        return f"no answer: {error.reason}"
    except (OSError, ValueError, http.client.HTTPException) as error:
        return f"no answer: {error}"


def _is_ours(body: bytes) -> bool:
    """Whether this is what a server of duly that is ready says, rather than the page of another one."""
    import json

    try:
        told = json.loads(body)
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("status") == "ready"
