"""What a message says, in each of its formats."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from duly.targets.envelope import Departure, Format, message_of, prefixed
from tests.acceptance.rules import rule

DEPARTURE = Departure(
    run_id="019cc9a0-0000-7000-8000-000000000001",
    payload='{"type":"notification","userId":"u-42"}',
    scheduled_at=datetime(2026, 3, 8, 18, tzinfo=UTC),
    fired_at=datetime(2026, 3, 8, 18, 0, 0, 250_000, tzinfo=UTC),
    schedule_id="019cc9a0-0000-7000-9000-000000000000",
    key="u42-reminder",
    window_key="sched:u42-reminder:1772992800000",
    topic="notifications.task-reminder",
    timezone="America/New_York",
    metadata={"owner_id": "u-42", "tenant_id": None, "correlation_id": "c-1", "client_request_id": None},
    attempt=2,
    max_attempts=4,
    fence=7,
    spec={"kind": "queue", "name": "notification-queue"},
)
DATA = {
    "scheduledJobId": "019cc9a0-0000-7000-9000-000000000000",
    "topic": "notifications.task-reminder",
    "userPayload": {"type": "notification", "userId": "u-42"},
    "metadata": {"ownerId": "u-42", "tenantId": None, "correlationId": "c-1", "clientRequestId": None},
    "timezone": "America/New_York",
    "originalScheduledAt": "2026-03-08T18:00:00Z",
    "firedAt": "2026-03-08T18:00:00.250Z",
    "attempt": 1,
    "maxAttempts": 4,
}
ATTRIBUTES = {
    "specversion": "1.0",
    "id": "019cc9a0-0000-7000-8000-000000000001",
    "source": "/duly/schedules/u42-reminder",
    "type": "schedule.notifications.task-reminder.arrived",
    "time": "2026-03-08T18:00:00Z",
    "windowkey": "sched:u42-reminder:1772992800000",
}


def _spec(**words: object) -> Departure:
    return replace(DEPARTURE, spec={**DEPARTURE.spec, **words})


def test_a_cloud_event_is_one_json() -> None:
    message = message_of(DEPARTURE)
    assert json.loads(message.body) == {**ATTRIBUTES, "datacontenttype": "application/json", "data": DATA}
    assert (message.content_type, message.attributes) == ("application/cloudevents+json", {})
    assert (message.id, message.key, message.topic) == (DEPARTURE.run_id, "u42-reminder", DEPARTURE.topic)


def test_a_binary_cloud_event_has_its_attributes_beside_the_data() -> None:
    message = message_of(_spec(format="cloudevents-binary"))
    assert json.loads(message.body) == DATA
    assert message.attributes == ATTRIBUTES
    assert message.content_type == "application/json"
    assert prefixed(message.attributes, "ce-")["ce-windowkey"] == "sched:u42-reminder:1772992800000"


def test_raw_is_what_was_stored_with_the_ids_in_headers() -> None:
    message = message_of(_spec(format="raw", headers={"x-team": "hr"}))
    assert message.body == DEPARTURE.payload.encode()
    assert message.headers == {
        "duly-run-id": DEPARTURE.run_id,
        "duly-schedule-id": DEPARTURE.schedule_id,
        "duly-schedule-key": "u42-reminder",
        "duly-window-key": "sched:u42-reminder:1772992800000",
        "duly-type": "schedule.notifications.task-reminder.arrived",
        "duly-scheduled-at": "2026-03-08T18:00:00Z",
        "duly-attempt": "2",
        "duly-fence": "7",
        "x-team": "hr",
    }


def test_where_an_answer_is_expected_the_headers_say_so_and_each_attempt_is_a_question_of_its_own() -> None:
    asked, told = message_of(_spec(format="raw", expect="ack")), message_of(_spec(format="raw"))
    assert (asked.headers["duly-expect"], asked.headers["duly-fence"]) == ("ack", "7")
    assert (asked.id, asked.dedup_id) == (DEPARTURE.run_id, f"{DEPARTURE.run_id}:7")
    assert ("duly-expect" in told.headers, told.dedup_id) == (False, DEPARTURE.run_id)


@rule("S3.49")
@pytest.mark.parametrize(
    "payload, expected",
    [('{"a":1,"_executionId":"forged"}', {"a": 1}), ("[1,2]", {"payload": [1, 2]}), ("null", {"payload": None})],
)
def test_merged_adds_the_ids_to_the_payload(payload: str, expected: dict) -> None:
    message = message_of(replace(_spec(format="merged"), payload=payload))
    ours = {
        "_schedulerId": DEPARTURE.schedule_id,
        "_executionId": DEPARTURE.run_id,
        "_scheduledAt": "2026-03-08T18:00:00Z",
    }
    assert json.loads(message.body) == {**expected, **ours}


def test_a_run_without_topic_and_schedule_is_a_plain_one() -> None:
    alone = replace(DEPARTURE, topic=None, schedule_id=None, key=None, window_key=None)
    event = json.loads(message_of(alone).body)
    assert (event["type"], event["source"]) == ("duly.run", "/duly/runs")
    assert event["data"]["scheduledJobId"] == DEPARTURE.run_id
    assert "windowkey" not in event


def test_who_is_to_answer_is_told_the_fence() -> None:
    assert json.loads(message_of(_spec(expect="ack")).body)["fence"] == 7
    binary = message_of(_spec(expect="ack", format="cloudevents-binary"))
    assert binary.attributes["fence"] == "7"


def test_the_target_s_own_words_reach_the_target() -> None:
    message = message_of(_spec(url="https://example.com/hook", secret="whsec_x", format="raw"))
    assert message.options == {"url": "https://example.com/hook", "secret": "whsec_x"}


@pytest.mark.parametrize("format", Format)
def test_every_attempt_at_a_message_is_the_same(format: Format) -> None:
    first, second = (message_of(replace(_spec(format=format), attempt=n, fence=n)) for n in (1, 2))
    assert (first.id, first.body, first.attributes) == (second.id, second.body, second.attributes)
    assert (first.headers["duly-attempt"], second.headers["duly-attempt"]) == ("1", "2")


def test_an_attempt_that_is_to_be_answered_says_which_it_is() -> None:
    event = json.loads(message_of(_spec(expect="ack")).body)
    assert (event["data"]["attempt"], event["fence"]) == (2, 7)
