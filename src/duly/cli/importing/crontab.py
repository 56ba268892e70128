"""Crontabs: lines of five fields and a command, as Vixie cron and its heirs read them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from duly.core.timing.pattern import MACROS

from .values import Body, Imported, Left, cron, key_of, name_of

# As cron does: no catching up, no second try, no time limit, and runs may overlap.
AS_CRON_DOES: Body = {
    "overlapPolicy": "allow",
    "catchUp": {"policy": "skip"},
    "maxAttempts": 1,
    "timeoutSeconds": None,
}
TZ_NOTE = "TZ was taken for the zone of its schedule; where cron only hands it to the command, give --timezone"
MAIL_NOTE = "MAILTO: nothing is mailed; what the command prints is up to the job"
_SETTING = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))\s*=\s*(?:"([^"]*)"|'([^']*)'|(.*?))\s*""")
_UNESCAPED_PERCENT = re.compile(r"(?<!\\)%")
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class _Context:
    """What holds for a line: where it is, whose it is, and what was set above it."""

    file: str
    job: str
    timezone: str
    system: bool
    environment: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""


def read_crontab(text: str, *, file: str, timezone: str, job: str, system: bool, into: Imported) -> None:
    """Read one crontab. With ``system`` a user stands before the command, as in /etc/crontab and /etc/cron.d."""
    context = _Context(file, job, timezone, system)
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        place = f"{file}:{number}"
        if not stripped:
            context = replace(context, comment="")
        elif stripped.startswith("#"):
            context = replace(context, comment=f"{context.comment}\n{stripped.lstrip('# ')}".strip())
        elif (setting := _setting(stripped)) is not None:
            context = replace(context, environment={**context.environment, **setting}, comment="")
        else:
            try:
                _carry(stripped, place, context, into)
            except Left as left:
                into.leave(place, stripped, str(left))
            context = replace(context, comment="")


def _setting(line: str) -> dict[str, str] | None:
    found = _SETTING.fullmatch(line)
    if found is None or line[0] in "*@0123456789-":
        return None
    name = next(part for part in found.groups()[:3] if part is not None)
    return {name: next(part for part in found.groups()[3:] if part is not None)}


def _carry(line: str, place: str, context: _Context, into: Imported) -> None:
    expression, rest = _when(line)
    user, command = None, rest
    if context.system:
        user, command = (*rest.split(None, 1), "", "")[:2]
    if not command:
        missing = "a user and a command" if context.system else "a command"
        raise Left(f"expected {missing} behind its time")
    environment = dict(context.environment)
    zone, notes = _zone(context, environment)
    command, stdin = _split_input(command)
    payload: Body = {"command": command}
    if stdin is not None:
        payload["stdin"] = stdin
    if user is not None:
        payload["user"] = user
    if environment:
        payload["environment"] = environment
    body: Body = {
        "name": name_of(command),
        **cron(expression, zone),
        "jobType": context.job,
        "jobPayload": payload,
        **AS_CRON_DOES,
    }
    if context.comment:
        body["description"] = context.comment[:10_000]
    into.carry(place, _key(command, user), body, *notes)


def _when(line: str) -> tuple[str, str]:
    """The expression of a line and what follows it."""
    line = line.removeprefix("-")  # where it means that nothing is to be logged
    if line.startswith("@"):
        macro, rest = (*line.split(None, 1), "")[:2]
        if macro.lower() == "@reboot":
            raise Left("it runs when the machine starts, and a schedule knows only time; start it with the machine")
        if macro.lower() not in MACROS:
            raise Left(f"{macro[:20]} is not a time that we know; expected five fields or one of {', '.join(MACROS)}")
        return MACROS[macro.lower()], rest.strip()
    words = line.split(None, _FIELDS)
    if len(words) < _FIELDS:
        raise Left("expected five fields and a command")
    expression = " ".join(words[:_FIELDS])
    _check_days(words[2], words[4])
    if "~" in expression:
        raise Left("'~' draws a time at random when cron starts; choose one, or give the schedule a jitter")
    return expression.upper(), " ".join(words[_FIELDS:])


def _check_days(day: str, weekday: str) -> None:
    """Both days restricted mean either of them; cron has an exception for what begins with a star, and we have not."""
    if (day.startswith("*") and day != "*" and weekday != "*") or (
        weekday.startswith("*") and weekday != "*" and day != "*"
    ):
        raise Left(
            f"day {day} and weekday {weekday}: because one begins with '*', cron fires only where both agree, and we"
            " where either does; name one of them, and let the command look at the other"
        )


def _zone(context: _Context, environment: dict[str, str]) -> tuple[str, list[str]]:
    notes = [MAIL_NOTE] if environment.get("MAILTO") else []
    environment.pop("MAILTO", None)
    zone = environment.pop("CRON_TZ", None)
    if zone is None and environment.get("TZ"):
        zone = environment["TZ"]
        notes.append(TZ_NOTE)
    return (zone or context.timezone).lstrip(":"), notes


def _split_input(command: str) -> tuple[str, str | None]:
    """The command and what it is given on stdin: what follows the first %, each further one a new line."""
    head, *rest = (part.replace("\\%", "%") for part in _UNESCAPED_PERCENT.split(command))
    return head.strip(), "\n".join(rest) if rest else None


def _key(command: str, user: str | None) -> str:
    """The same for the same command of the same user, whenever it runs: importing again changes its time."""
    digest = hashlib.sha256(f"{user or ''}\n{command}".encode()).hexdigest()[:8]
    program = command.split()[0].rpartition("/")[2] if command.split() else "command"
    return f"cron-{key_of(program)[:60]}-{digest}"
