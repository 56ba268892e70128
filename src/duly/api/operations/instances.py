"""What can be asked about the processes of a fleet."""

from __future__ import annotations

from duly.api.answers import at_ms
from duly.api.shapes import InstancePage
from duly.app import Duly
from duly.app.watching import leader_lease, live_instances


async def list_instances(app: Duly) -> InstancePage:
    """Every process whose lease holds, with the jobs that its worker knows."""
    lease = await leader_lease(app)
    leads = None if lease is None else lease.session
    found = sorted(await live_instances(app), key=lambda instance: (instance.started_at, instance.name))
    return {
        "items": [
            {
                "name": instance.name,
                "host": instance.host,
                "pid": instance.pid,
                "roles": list(instance.roles),
                "version": instance.version,
                "tzVersion": instance.tz_version,
                "jobs": list(instance.jobs),
                "startedAt": at_ms(instance.started_at),
                "leaseUntil": at_ms(instance.expires_at),
                "clockOffsetMs": instance.skew_ms,
                "leader": instance.session == leads,
                "term": lease.term if lease is not None and instance.session == leads else None,
            }
            for instance in found
        ],
        "nextCursor": None,
    }
