"""Identity: pure functions from what a thing is to what it is called.

A window's run id is derived from the schedule's id and the window's instant, so every instance that fires the same
window builds the same primary key, and the store refuses the second one. It has the UUIDv7 layout: ids sort by
window. Identity never uses the schedule's key: a purged key may return.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b

from .errors import ValidationFailed

KEY_EXPECTED = "1 to 200 of A-Z a-z 0-9 . _ : @ - starting with a letter or a digit"
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_WINDOW_KEY = re.compile(r"sched:(.{1,200}):(\d{1,15})", re.ASCII)
_TIME_BITS = (1 << 48) - 1
_VARIANT = {f"{digit:x}": "89ab"[digit & 3] for digit in range(16)}


def uuid7(at: int, entropy: bytes) -> str:
    """Lay out an instant (epoch ms) and ten bytes as a UUIDv7."""
    return _laid_out(at, entropy.hex())


def uuid7s(at: int, entropy: bytes) -> list[str]:
    """Lay out an instant and ten bytes each as UUIDv7, in ascending order."""
    digits = entropy.hex()
    return sorted(_laid_out(at, digits[start : start + 20]) for start in range(0, len(digits), 20))


def _laid_out(at: int, tail: str) -> str:
    # Straight from hex digits: this is called for every window that fires.
    return f"{_head(at)}{tail[:3]}-{_VARIANT[tail[4]]}{tail[5:8]}-{tail[8:]}"


@lru_cache(maxsize=256)
def _head(at: int) -> str:
    """The part of an id that says when; what fires together has the same."""
    time = f"{at & _TIME_BITS:012x}"
    return f"{time[:8]}-{time[8:]}-7"


def window_run_id(schedule_id: str, window_at: int) -> str:
    """Name the one run (or skipped row) that a window of a schedule can ever have."""
    return _laid_out(window_at, blake2b(f"{schedule_id}/{window_at}".encode(), digest_size=10).hexdigest())


def backfill_run_id(operation_id: str, window_at: int) -> str:
    """Name the one run that a backfill can make of a window: asked for again, it makes nothing new."""
    return uuid7(window_at, blake2b(f"{operation_id}/{window_at}/backfill".encode(), digest_size=10).digest())


def bulk_run_id(operation_id: str, schedule_id: str, made_at: int) -> str:
    """Name the one run that an operation can trigger of a schedule: begun again, it makes nothing new."""
    return uuid7(made_at, blake2b(f"{operation_id}/{schedule_id}/trigger".encode(), digest_size=10).digest())


def restore_id(epoch: int, at: int) -> str:
    """Name the operation that stops all firing after a restore, by the epoch that it ends."""
    return uuid7(at, blake2b(f"{epoch}/restore".encode(), digest_size=10).digest())


def redrive_run_id(run_id: str, fence: int, died_at: int) -> str:
    """Name the one run that a redrive with another payload can make of one death of a run."""
    return uuid7(died_at, blake2b(f"{run_id}/{fence}/redrive".encode(), digest_size=10).digest())


def on_dead_run_id(run_id: str, fence: int, died_at: int) -> str:
    """Name the one run of the on_dead handler that one death of a run can start."""
    return uuid7(died_at, blake2b(f"{run_id}/{fence}/on_dead".encode(), digest_size=10).digest())


def child_run_id(parent_id: str, position: int, at: int) -> str:
    """Name the one run that the body of a workflow can start at a position."""
    return uuid7(at, blake2b(f"{parent_id}/{position}/child".encode(), digest_size=10).digest())


def is_name(text: str) -> bool:
    """Whether a run may be named so by its caller."""
    return 1 <= len(text) <= 200 and text.isprintable()


def named_run_id(tenant: str, name: str) -> str:
    """Name a run after an id that its caller chose and that is no UUID: the same name is the same run, whenever."""
    digits = blake2b(f"{tenant}\n{name}".encode(), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{_VARIANT[digits[16]]}{digits[17:20]}-{digits[20:]}"


RESERVED_PREFIXES = ("sched:", "evt:")
"""Prefixes of the names of windows and of runs that events start; callers may not choose them."""


def chosen_run_id(space: str, id: str, *, raw: bool) -> str:
    """Return the run id for the id that a caller chose: the same each time, and their own.

    A UUID is taken as it is where ``raw`` is allowed. Otherwise it is hashed into the caller's space, since the ids of
    windows are public functions that a stranger could claim first; one that tells an instant goes on telling it.
    """
    if not is_id(id):
        return named_run_id(space, id)
    if raw:
        return id
    if not is_uuid7(id):
        return named_run_id(space, id)
    return uuid7(int(id.replace("-", "")[:12], 16), blake2b(f"{space}\n{id}".encode(), digest_size=10).digest())


def asked_id(tenant: str, asked: str, key: str, at: int) -> str:
    """Name what a request makes that came, at an instant, with a key of the client's own: asked again, it is the same.

    ``asked`` is its method and path.
    """
    return uuid7(at, blake2b(f"{tenant}\n{asked}\n{key}".encode(), digest_size=10).digest())


def lane_id(tenant: str, owner: str, singleton: str) -> str:
    """Name the lane of an owner's singleton key; it has no instant."""
    text = blake2b(repr((tenant, owner, singleton)).encode(), digest_size=16).hexdigest()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def window_key(key: str, window_at: int) -> str:
    """Show a window the way people and logs name it: ``sched:<schedule key>:<epoch ms>``."""
    return f"sched:{key}:{window_at}"


def parse_window_key(text: str) -> tuple[str, int] | None:
    """Read ``sched:<schedule key>:<epoch ms>`` back, or answer None when it is not one."""
    found = _WINDOW_KEY.fullmatch(text)
    return (found[1], int(found[2])) if found else None


def check_ref(ref: object, what: str) -> None:
    """Refuse what cannot be an id or a key because it is no text."""
    if not isinstance(ref, str):
        raise ValidationFailed(f"ref is {_shown(ref)}; expected the id or key of {what}, as text", field="ref", got=ref)


def is_id(text: str) -> bool:
    """Tell whether a text is an id (lower-case hyphenated UUID) rather than a key."""
    return _UUID.fullmatch(text) is not None


def is_uuid7(text: str) -> bool:
    """Tell whether a text is an id of the kind that duly makes itself."""
    return is_id(text) and text[14] == "7" and text[19] in "89ab"


def is_key(text: str) -> bool:
    """Tell whether a text may be a schedule's key."""
    return _KEY.fullmatch(text) is not None


def check_key(key: str) -> str:
    """Answer the key, or refuse it by name."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValidationFailed(
            f"schedule key is {_shown(key)}; expected {KEY_EXPECTED}", field="key", got=key, expected=KEY_EXPECTED
        )
    return key


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
