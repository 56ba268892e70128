"""``duly health``: whether a server is ready."""

import json
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.conftest import Duly
from tests.serve.serving import Served


@pytest.mark.processes
def test_a_server_that_is_ready_is_exit_code_0(duly: Duly, tmp_path: Path) -> None:
    server = Served(tmp_path).ready()
    url = server.url
    try:
        done = duly("health", "--server", url, "--timeout", "60", "-o", "json")
        host, _, port = url.removeprefix("http://").partition(":")
        own = duly("health", "--timeout", "60", env={"DULY_API_HOST": "0.0.0.0", "DULY_API_PORT": port})
        missing = duly("health", "--server", f"{url}/nowhere", "--timeout", "60")
    finally:
        server.close()
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"server": url, "ready": True, "why": None})
    assert (own.exit_code, own.stdout.split()[:2], host) == (0, ["server", url], "127.0.0.1")
    assert missing.exit_code == 1
    assert "failed: it answers 404" in missing.stdout


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "ftp://127.0.0.1:{port}", "http://127.0.0.1:99999"])
def test_one_that_does_not_answer_is_exit_code_1_and_no_trace(duly: Duly, url: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, and nobody listens
        done = duly("health", "--server", url.format(port=closed.getsockname()[1]))
    assert done.exit_code == 1, done.stderr
    assert "failed: " in done.stdout


class OtherServer(BaseHTTPRequestHandler):
    """A web server that answers 200 to everything."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>It works!</h1>")

    def log_message(self, *_: object) -> None:
        pass


def test_another_web_server_is_not_ours(duly: Duly) -> None:
    with HTTPServer(("127.0.0.1", 0), OtherServer) as other:
        thread = Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            done = duly("health", "--server", f"http://127.0.0.1:{other.server_port}", "--timeout", "60")
        finally:
            other.shutdown()
            thread.join()
    assert done.exit_code == 1
    assert "not as duly does: is the URL right?" in done.stdout
