"""The stream of a real server: it outlives what happens elsewhere, and never holds the server's end."""

import http.client
import json
from pathlib import Path
from typing import Any

import pytest

from tests.serve.serving import PATIENCE, Served, duly

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]


class Stream:
    """A client of ``/events`` on a socket."""

    def __init__(self, url: str, last_event_id: str | None = None) -> None:
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        self.connection.request("GET", "/api/v1/events", headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200

    def event(self) -> dict[str, Any]:
        """The next event but for the one that says that all processes tell."""
        for line in self.answer:
            if line.startswith(b"data: "):
                event: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
                if event["type"] != "stream.reset":
                    return event
        raise AssertionError("the stream ended")

    def rest(self) -> bytes:
        return self.answer.read()

    def close(self) -> None:
        self.connection.close()


def test_two_servers_tell_the_same_and_stop_while_clients_listen(tmp_path: Path) -> None:
    one = Served(tmp_path).ready()
    two = Served(tmp_path, "--roles", "api").ready()
    try:
        first, second = Stream(one.url), Stream(two.url)
        body = {"everyMs": 3_600_000, "jobType": "work", "key": "k"}
        assert one.ask("/api/v1/schedules", {**body, "enabled": False}).status == 201
        assert two.ask("/api/v1/schedules/k/resume", {}).status == 200
        told = [first.event() for _ in range(2)]
        assert [event["type"] for event in told] == ["schedule.created", "schedule.resumed"]
        assert [second.event() for _ in range(2)] == told
        assert one.end() == 0, "the clients would listen forever"
        assert first.rest().endswith(b": the stream ends\n\n")
        assert duly("schedule", "pause", "k", folder=tmp_path).code == 0  # by a third process, which never beats
        again = Stream(two.url, told[0]["id"])
        heard = [again.event() for _ in range(2)]
        assert [event["type"] for event in heard] == ["schedule.resumed", "schedule.paused"]
        assert heard[0] == told[1]
        assert second.event() == heard[1]
        idle = Stream(two.url)  # nobody reads this one
        assert two.end() == 0
        for stream in (first, second, again, idle):
            stream.close()
    finally:
        one.close()
        two.close()
