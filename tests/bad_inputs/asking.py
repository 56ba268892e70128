"""Rows of bad inputs as requests, byte for byte, to a served process."""

import base64
import gzip
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import apsw
import psycopg

from tests.databases import in_duly
from tests.serve.serving import Served

VECTORS = Path(__file__).parents[1] / "vectors"
API = "/api/v1"
NAMES = {
    "cron": "cronExpression", "every_ms": "everyMs", "run_at": "onceAt", "timeout_s": "timeoutSeconds",
    "labels": "tags", "concurrency": "maxConcurrent", "max_attempts": "maxAttempts", "overlap": "overlapPolicy",
    "start_at": "startAt", "end_at": "endAt", "next_fire_at": "nextFireAt", "job": "jobType",
}  # fmt: skip
"""What the rows call a field, and what it is called here."""

LEAKS = ("Traceback", 'File "', "site-packages", "/src/duly", "SELECT ", "INSERT ", "sqlite3", "psycopg", "apsw.")
TABLES = ("schedules", "revisions", "cursors", "runs", "history", "calendars", "queues")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text().splitlines()]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""

    def encoded(self) -> bytes:
        names = {name.lower() for name in self.headers}
        headers = {"Host": "localhost", "Connection": "close", **self.headers}
        if self.body and not names & {"content-length", "transfer-encoding"}:
            headers["Content-Length"] = str(len(self.body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value is not None)
        return f"{self.method} {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + self.body


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    took: float
    cost: float
    """Seconds, and those of them in which the server computed: others may keep it from a core for long."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Target:
    """A served process with its database beside it."""

    def __init__(self, name: str, served: Served, database_url: str) -> None:
        self.name = name
        self.served = served
        if database_url.startswith("sqlite"):
            connection = apsw.Connection(database_url.removeprefix("sqlite:///"), apsw.SQLITE_OPEN_READONLY)
            connection.set_busy_timeout(5000)
            self._select: Callable[[str], Iterable[Any]] = connection.execute
            self.close: Callable[[], None] = lambda: connection.close()
        else:
            postgres = psycopg.connect(database_url, autocommit=True)
            self._select = lambda statement: postgres.execute(in_duly(statement).encode())
            self.close = postgres.close

    def ask(self, request: Request) -> Answer:
        return self.send(request.encoded())

    def send(self, raw: bytes) -> Answer:
        host, _, port = self.served.url.removeprefix("http://").partition(":")
        begun, before = time.monotonic(), self.computed()
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(raw)
            received = b""
            while chunk := connection.recv(2**16):
                received += chunk
        head, _, body = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        took = time.monotonic() - begun
        return Answer(int(lines[0].split()[1]), headers, body, took, self.computed() - before)

    def stored(self) -> tuple[int, ...]:
        """How many rows each table has."""
        statement = " UNION ALL ".join(f"SELECT count(*) FROM duly_{name}" for name in TABLES)
        return tuple(row[0] for row in self._select(statement))

    def computed(self) -> float:
        """Seconds that the process has computed so far."""
        fields = Path(f"/proc/{self.served.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        status = Path(f"/proc/{self.served.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def request_of(row: dict[str, Any], method: str, path: str, base: dict[str, Any] | None) -> Request:
    """A row's input applied to the smallest request of its surface."""
    given = row["input"]
    method = given.get("method", method)
    path = built(given.get("path", path))
    path = path if not path.startswith("/v1/") else f"/api{path}"
    if base is not None and "query" in given:
        base = base | given["query"]  # what others take from the query, ours takes from the body
    elif "query" in given:
        query = built(given["query"])
        path += "?" + (query if isinstance(query, str) else urlencode(query))
    headers = built(given.get("headers", {}))
    body = body_of(given, base)
    if body and "Content-Type" not in headers:
        headers["Content-Type"] = "application/json"
    return Request(method, path, headers, body)


def body_of(given: dict[str, Any], base: dict[str, Any] | None) -> bytes:
    if "raw" in given:
        return str(built(given["raw"])).encode("utf-8", "surrogatepass")
    if "raw_hex" in given:
        return bytes.fromhex(given["raw_hex"])
    if "raw_b64" in given:
        return base64.b64decode(given["raw_b64"])
    if "gzip_bomb" in given:
        return gzip.compress(b" " * (given["gzip_bomb"]["expanded_mib"] * 2**20))
    if "payload_depth" in given:
        depth = int(given["payload_depth"])
        return b'{"payload": ' + b"[" * depth + b"]" * depth + b"}"
    if base is None:
        return b""
    body = dict(base)
    changes = {NAMES.get(name, name): built(value) for name, value in given.get("set", {}).items()}
    if {"everyMs", "onceAt"} & changes.keys() and "cronExpression" not in changes:
        body.pop("cronExpression", None)
    if isinstance(changes.get("tags"), dict) and "count" in changes["tags"]:
        changes["tags"] = [f"tag-{number}" for number in range(changes["tags"]["count"])]
    body |= changes
    for name in given.get("unset", []):
        body.pop(NAMES.get(name, name), None)
    if "payload_bytes" in given:
        body["payload"] = "x" * given["payload_bytes"]
    text = json.dumps(body)
    for name, raw in given.get("raw_json_field", {}).items():
        text = f'{text[:-1]}, "{NAMES.get(name, name)}": {built(raw)}}}'
        body.pop(name, None)
    return text.encode()


def built(value: Any) -> Any:
    """Long text, from a description of it."""
    if isinstance(value, dict) and set(value) == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    if isinstance(value, dict) and set(value) == {"join"}:
        return "".join(built(part) for part in value["join"])
    if isinstance(value, dict):
        return {name: built(inner) for name, inner in value.items()}
    return [built(inner) for inner in value] if isinstance(value, list) else value


def statuses(row: dict[str, Any]) -> list[int]:
    expected = row["expect"]["status"]
    return expected if isinstance(expected, list) else [expected]


def unique(prefix: str) -> str:
    return f"{prefix}-{os.urandom(6).hex()}"
