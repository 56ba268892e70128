"""The service manager that started this process, told that it is ready, alive or stopping: ``sd_notify``."""

from __future__ import annotations

import asyncio
import logging
import socket
from dataclasses import dataclass

from .clock import Clock

log = logging.getLogger("duly.supervisor")

HEARD_WITHIN = 1.0
"""Seconds that a manager which does not read may hold up the event loop."""


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Where the manager listens, and after how many silent seconds it takes the process for dead; None for never.

    Without an address there is no manager, and nothing is told.
    """

    address: str | None = None
    silence: float | None = None

    def tell(self, *lines: str) -> None:
        """Say something; a manager that cannot be reached is no reason to stop working."""
        if self.address is None:
            return
        # An address with an @ has no file: it lives in the kernel's own name space, which begins with a zero.
        address = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
                line.settimeout(HEARD_WITHIN)
                line.connect(address)
                line.send("\n".join(lines).encode())
        except OSError as error:
            log.warning("the service manager cannot be told %s: %s", lines[0], error)

    async def keep_telling(self, clock: Clock) -> None:
        """Say that the event loop turns, twice within the allowed silence, until cancelled."""
        if self.address is None or self.silence is None:
            return
        never = asyncio.Event()
        while True:
            self.tell("WATCHDOG=1")
            await clock.wait(never, self.silence / 2)
