"""The rows of brokers: which broker meets which fault, on which store, and how often."""

from __future__ import annotations

from tests.chaos import broker_faults as faults
from tests.chaos import webhook_faults as webhooks
from tests.chaos.row import BOTH, POSTGRES, SQLITE, Row, Strike
from tests.chaos.trial import Setting

TWO = ("a", "b")


def row(
    id: str,
    fault: str,
    strike: Strike,
    broker: str,
    *,
    stores: tuple[str, ...] = SQLITE,
    change: tuple[str, ...] = (),
    short: int = 1,
    release: int = 10,
    proxied: bool = False,
    may_lose: bool = False,
) -> Row:
    need = broker.partition("-")[0]
    setting = Setting(instances=TWO, load=False, broker=broker, proxied=proxied, may_lose=may_lose)
    return Row(
        id=id, fault=fault, strike=strike, judge=faults.judge, stores=stores, change=change, short=short,
        release=release, needs=(need,), setting=setting,
    )  # fmt: skip


BROKER_ROWS = (
    row("B01", "RabbitMQ killed while it is sent to", faults.kill_broker, "rabbitmq", stores=BOTH, change=SQLITE,
        short=2, release=30),
    row("B02", "RabbitMQ out of memory; no route", faults.no_room_in_rabbitmq, "rabbitmq"),
    row("B03", "consumer of Redis killed", faults.kill_consumer, "redis", short=2, release=30),
    row("B03b", "consumer of RabbitMQ killed", faults.kill_consumer, "rabbitmq", short=2, release=30),
    row("B03c", "consumer of NATS killed", faults.kill_consumer, "nats", short=2, release=30),
    row("B04", "Redis killed, frozen, full; synced always", faults.no_room_in_redis, "redis", short=3, release=30),
    row("B04b", "the same, synced every second", faults.no_room_in_redis, "redis-everysec", short=3, release=30),
    row("B04c", "the same, nothing kept", faults.no_room_in_redis, "redis-forgetful", short=3, release=30,
        may_lose=True),
    row("B05", "NATS killed, full, forgetful", faults.no_room_in_nats, "nats", short=3, release=30),
    row("B06", "confirms of RabbitMQ lost (10 a strike)", faults.lose_confirms, "rabbitmq", release=10),
    row("B06b", "confirms of Redis lost (10 a strike)", faults.lose_confirms, "redis", stores=BOTH, release=10),
    row("B06c", "confirms of NATS lost (10 a strike)", faults.lose_confirms, "nats", release=10),
    row("B07", "broker away for 10 min at 50 a second", faults.long_outage, "redis", short=0, release=3),
    Row(id="B08", fault="webhook receiver away for 10 min, flapping", strike=webhooks.receiver_down, stores=SQLITE,
        short=0, release=3, setting=Setting(
            instances=TWO, load=False, plan={"settings": {"webhook_allow": ["127.0.0.1"], "concurrency": 50}}
        )),
    row("N01b", "who delivers cut off past its lease", faults.cut_one, "redis", stores=POSTGRES, short=3, release=60,
        proxied=True),
    row("N02b", "store and broker flap, 1 s on, 1 s off", faults.flapping, "redis", stores=POSTGRES, release=20,
        proxied=True),
)  # fmt: skip
