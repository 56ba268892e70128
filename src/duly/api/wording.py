"""Messages of the Python interface in the words of a body: the names that its fields have in JSON."""

from __future__ import annotations

import re

# Names of the Python interface that stand in messages, and what a body calls them.
_IN_MESSAGES = {
    "retry max_attempts": "maxAttempts",
    "retry max_delay": "retryPolicy.maxDelaySeconds",
    "retry delay": "retryPolicy.delaySeconds",
    "retry jitter": "retryPolicy.jitter",
    "retry backoff": "retryPolicy.backoff",
    "catch_up max_lateness": "catchUp.maxLatenessSeconds",
    "catch_up max_runs": "catchUp.maxRuns",
    "dst_gap": "dst.gap",
    "dst_fold": "dst.fold",
    "schedule key is": "key is",
    "use Cron or Every": "use cronExpression or everyMs",
    "an aware datetime, or RFC 3339 text": "RFC 3339 text",
    "or an aware datetime": "or an instant",
    "is True": "is true",
    "is False": "is false",
    "is None": "is null",
    **{
        word: "".join((word.split("_")[0], *(part.capitalize() for part in word.split("_")[1:])))
        for word in (
            "start_at", "end_at", "run_at", "on_past", "min_ms", "max_ms", "max_runs", "max_queued", "max_concurrent",
            "pause_after_failures", "fire_current_window", "fairness_key", "strict_fields", "after_completion",
            "owner_id", "tenant_id", "correlation_id", "client_request_id", "every_ms", "interval_minutes",
            "created_by", "max_running", "newest_first", "exclude_dates", "rate_per_second", "unique_for",
            "on_conflict",
        )
    },
}  # fmt: skip
_MENTIONED = re.compile(r"\b(" + "|".join(map(re.escape, _IN_MESSAGES)) + r")")

# What the Python interface calls a value whose place only the caller knows.
_SUBJECT = re.compile(
    r"^(?:instant|moment|at|milliseconds|minutes|every|interval|local time|payload|expires)(?= (?:is|has) )"
)
_TOO_SHORT = re.compile(r"^interval is (-?\d+) ms; expected at least (\d+) ms")
_TOO_LONG = re.compile(r"^every is (\d+); expected at most (\d+) ms")
_WAYS = {
    "cron": "cronExpression", "daily": "dailyTime", "weekly": "weeklyTime", "monthly": "monthlyTime", "once": "onceAt",
}  # fmt: skip
_WAY = re.compile(r"(?<=does not go with )(?:cron|daily|weekly|monthly|once)\b")
_CALLS = (
    (re.compile(r"app\.workflows\.start\('(.+?)'\)"), r"POST /workflows/\1/runs"),
    (re.compile(r"app\.enqueue\('(.+?)'\)"), r"POST /runs with jobType '\1'"),
    (re.compile(r"(?<=write )job=(?=')"), "jobType="),
)
"""What the Python interface says to call instead, and what is asked for here."""

_MINUTE = 60_000


def in_json_words(message: str, pointer: str = "") -> str:
    """A message with the names that a body has for its fields; ``pointer`` is the place that it is about."""
    words = _MENTIONED.sub(lambda found: _IN_MESSAGES[found[1]], message)
    words = _WAY.sub(lambda found: _WAYS[found[0]], words)
    for call, request in _CALLS:
        words = call.sub(request, words)
    name = pointer.rpartition("/")[2]
    if not name or name.isdigit():
        return words
    if name == "intervalMinutes" and (found := _TOO_SHORT.match(words)):
        given, least = int(found[1]), int(found[2])
        return f"intervalMinutes is {given // _MINUTE}; expected at least {max(1, -(-least // _MINUTE))}"
    if name == "intervalMinutes" and (found := _TOO_LONG.match(words)):
        return f"intervalMinutes is {int(found[1]) // _MINUTE}; expected at most {int(found[2]) // _MINUTE}"
    if name == "anchor":
        words = words.replace("expected RFC 3339", "expected epoch, start, or RFC 3339")
    if name == "onceAt":
        words = words.replace("RFC 3339 text with an offset", "RFC 3339 text, in `timezone` if it has no offset,")
    return _SUBJECT.sub(lambda _: name, words)
