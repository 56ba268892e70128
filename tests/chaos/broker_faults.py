"""B rows: brokers that are killed, full, frozen or out of memory, confirms that are lost, consumers that die.

Every strike goes on while schedules deliver many times a second; at the end the broker has what was committed, each
message under its id and with one body, and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from duly import Every, Run, RunStatus
from duly.core.errors import DulyError
from tests.broker_servers import RabbitServer
from tests.chaos.brokers import OUT, Broker, NatsBroker, RabbitBroker, RedisBroker, judge_messages
from tests.chaos.instance import PATIENT
from tests.chaos.judging import percentile
from tests.chaos.trial import LEASE, REST_WITHIN, Trial
from tests.store.postgres.proxy import Fault

FORMATS = ("raw", "cloudevents", "merged", "cloudevents-binary")
SCHEDULES = 8
PAYLOAD = {"said": "ünïcode", "n": 1}


def broker_of(trial: Trial) -> Broker:
    assert trial.broker is not None
    return trial.broker


async def deliver(trial: Trial, schedules: int = SCHEDULES) -> None:
    """Let schedules deliver all the time, each somewhere within every second."""
    if trial.delivering:
        return
    await broker_of(trial).prepare()
    trial.delivering = [f"out-{n}" for n in range(schedules)]
    options: dict[str, Any] = {"retry": PATIENT, "overlap": "allow", "catch_up": "all", "payload": PAYLOAD}
    for n, key in enumerate(trial.delivering):
        aim = {"kind": "queue", "name": OUT, "format": FORMATS[n % len(FORMATS)]}
        await trial.client.schedules.create(key, Every(seconds=1), target=aim, jitter=(0, 900), **options)
    await arrives_again(trial, 0)


async def arrives_again(trial: Trial, since: float) -> None:
    """Wait until a run that came after a moment is delivered, and note how long it took."""

    async def delivered() -> bool:
        with suppress(DulyError):
            newest = await trial.client.runs.list(schedule=trial.delivering[0], status="completed", limit=5)
            return any(run.fired_at.timestamp() > since for run in newest.items)
        return False

    await trial.wait_for(delivered, "deliveries to arrive")
    if since:
        trial.figures.recoveries.append(time.time() - since)


async def judge(trial: Trial) -> None:
    """Stop the schedules, let what was fired arrive, and compare store and broker."""
    if not trial.judges_messages:
        return
    runs = await ended(trial)
    committed = {run.id: json.dumps(PAYLOAD, separators=(",", ":"), ensure_ascii=False).encode()
                 if trial.delivering.index(key) % len(FORMATS) == 0 else None for key, run in runs}  # fmt: skip
    came = await broker_of(trial).received()
    findings, figures = judge_messages(committed, came)
    if figures["did not come"] and not trial.setting.may_lose:
        findings.append(f"{figures['did not come']} of {len(committed)} committed messages did not come")
    trial.figures.findings += findings
    trial.figures.remarks |= figures
    trial.figures.runs += len(committed)


async def ended(trial: Trial) -> list[tuple[str, Run]]:
    """Every run that was fired, with its schedule's key; those that did not end well are findings."""
    found: list[tuple[str, Run]] = []
    for key in trial.delivering:
        await trial.patiently(partial(trial.client.schedules.pause, key))
    for key in trial.delivering:
        runs = await trial.wait_for(partial(trial._settled, key), f"the runs of {key} to end")
        found += [(key, run) for run in runs if run.status is not RunStatus.SKIPPED]
    bad = [run for _, run in found if run.status is not RunStatus.COMPLETED]
    trial.figures.findings += [f"run {run.id} is {run.status.value}: {run.error_message}" for run in bad]
    return found


async def kill_broker(trial: Trial) -> None:
    """B01, B04, B05: SIGKILL while it is sent to, and back after a while."""
    await deliver(trial)
    await trial.pause(trial.chance.uniform(0.3, 1.5))
    trial.fleet.book.note("nemesis", what="SIGKILL the broker")
    await broker_of(trial).kill()
    await trial.pause(trial.chance.uniform(0, 2))
    await broker_of(trial).start()
    await arrives_again(trial, time.time())


async def lose_confirms(trial: Trial) -> None:
    """B06: ten confirms are lost; the messages go again, under the same ids."""
    await deliver(trial)
    broker = broker_of(trial)
    for number in range(broker.proxy.met, broker.proxy.met + 10):
        broker.proxy.set(Fault.LOSE_REPLY, at=broker.word)
        await trial.wait_for(partial(_has_met, broker, number), "a confirm to be lost")
    await arrives_again(trial, time.time())
    trial.figures.remarks["confirms lost"] = broker.proxy.met
    if not broker.dedups:
        ids = [id for id, _ in await broker.received()]
        if len(ids) == len(set(ids)):
            trial.figures.findings.append("confirms were lost, and nothing came twice: the fault did not strike")


def _has_met(broker: Broker, number: int) -> bool:
    return broker.proxy.met > number


async def no_room_in_rabbitmq(trial: Trial) -> None:
    """B02: RabbitMQ is out of memory and blocks; and a message that no queue takes is kept, told and sent later."""
    await deliver(trial)
    broker = broker_of(trial)
    assert isinstance(broker, RabbitBroker)
    assert isinstance(broker.server, RabbitServer)
    await asyncio.to_thread(broker.server.evaluate, "vm_memory_monitor set_vm_memory_high_watermark [0.000001]")
    await trial.pause(trial.chance.uniform(2, 7))
    await asyncio.to_thread(broker.server.evaluate, "vm_memory_monitor set_vm_memory_high_watermark [0.4]")
    await arrives_again(trial, time.time())
    key = trial.new_name("unroutable-")
    aim = {"kind": "queue", "name": "nowhere"}
    await trial.client.schedules.create(key, Every(days=1), target=aim, retry=PATIENT)
    run = await trial.client.schedules.trigger(key)
    dead = await trial.client.runs.wait(run.id, timeout=REST_WITHIN)
    if trial.figures.repetitions == 0:  # afterwards the queue is there
        if dead.status is not RunStatus.FAILED or "no queue takes it" not in str(dead.error_message):
            trial.figures.findings.append(f"an unroutable message is {dead.status}: {dead.error_message}")
        await broker.declare("nowhere")
        await trial.client.runs.redrive(run.id)
        await trial.client.runs.wait(run.id, timeout=REST_WITHIN)
    if run.id not in {id for id, _ in await broker.received("nowhere")}:
        trial.figures.findings.append("an unroutable message was not kept")


async def no_room_in_redis(trial: Trial) -> None:
    """B04: in turns killed, frozen for longer than a send may take, and without memory for more."""
    how = trial.figures.repetitions % 3
    if how == 0:
        return await kill_broker(trial)
    await deliver(trial)
    broker = broker_of(trial)
    assert isinstance(broker, RedisBroker)
    async with broker.client() as redis:
        if how == 1:
            await redis.execute_command("DEBUG", "SLEEP", "6")
        else:
            await redis.config_set("maxmemory", "1")
            await trial.pause(trial.chance.uniform(1, 3))
            await redis.config_set("maxmemory", "0")
    await arrives_again(trial, time.time())
    return None


async def no_room_in_nats(trial: Trial) -> None:
    """B05: in turns killed, full, and asked again when it has forgotten what it had."""
    how = trial.figures.repetitions % 3
    if how == 0:
        return await kill_broker(trial)
    await deliver(trial)
    broker = broker_of(trial)
    assert isinstance(broker, NatsBroker)
    if how == 1:
        await broker.change(max_msgs=len(await broker.received()) + 5)
        await trial.pause(trial.chance.uniform(2, 4))
        await broker.change()
        await arrives_again(trial, time.time())
    else:
        await broker.change(duplicate_window=0.1)
        await lose_confirms(trial)
        await broker.change(duplicate_window=120)
    return None


@asynccontextmanager
async def receiver(trial: Trial) -> AsyncIterator[Callable[[], subprocess.Popen[bytes]]]:
    """Answer what starts a consumer; those that still live at the end are killed."""
    started: list[subprocess.Popen[bytes]] = []
    root = Path(__file__).parents[2]

    def start() -> subprocess.Popen[bytes]:
        words = [str(trial.fleet.book.socket), trial.setting.broker, broker_of(trial).server.url, OUT]
        env = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}
        with (trial.folder / "receiver.log").open("ab") as log:
            command = [sys.executable, "-m", "tests.chaos.receiver", *words]
            started.append(subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=root))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.wait()


async def kill_consumer(trial: Trial) -> None:
    """B03: a consumer dies before it acknowledges; another gets the same, and nothing is lost."""
    await deliver(trial)
    trial.judges_messages = False  # they are taken from the broker: the ledger says what came
    async with receiver(trial) as start:
        for _ in range(3):
            process = start()
            await trial.wait_for(partial(_in_the_middle, trial, process.pid), "a consumer to be at a message")
            process.kill()
        start()
        committed = {run.id for _, run in await ended(trial)}
        handled = await trial.wait_for(lambda: committed <= _messages(trial, "handled") and True, "all to be handled")
        assert handled
    came = [(line["message"], line["body"].encode()) for line in trial.fleet.ledger("received")]
    findings, figures = judge_messages(dict.fromkeys(committed), came)
    trial.figures.findings += findings
    trial.figures.remarks |= figures
    trial.figures.runs = len(committed)
    for key in trial.delivering:
        await trial.client.schedules.resume(key)


def _messages(trial: Trial, event: str) -> set[str]:
    return {line["message"] for line in trial.fleet.ledger(event)}


def _in_the_middle(trial: Trial, pid: int) -> bool:
    mine = [line for line in trial.fleet.ledger() if line["pid"] == pid]
    return len(mine) >= 5 and mine[-1]["event"] == "received"


async def cut_one(trial: Trial) -> None:
    """N01: an instance with messages on their way is cut off from the store for two leases.

    The broker has them, the instance hears so and cannot write it down: another one sends them again.
    """
    await deliver(trial)
    link, name = broker_of(trial).proxy, trial.any_instance()
    link.set(Fault.HOLD)
    await trial.pause(2)
    trial.proxies[name].set(Fault.SWALLOW_ALL)
    link.heal()
    await trial.pause(2 * LEASE)
    await arrives_again(trial, time.time())
    trial.proxies[name].heal()
    ids = [id for id, _ in await broker_of(trial).received()]
    if len(ids) == len(set(ids)):
        trial.figures.findings.append("nothing came twice: the fault met no message on its way")


async def flapping(trial: Trial) -> None:
    """N02: the links to the store and to the broker are there for a second and gone for a second, ten times."""
    await deliver(trial)
    links = [*trial.proxies.values(), broker_of(trial).proxy]
    for _ in range(10 if trial.scale > 1 else 4):
        for link in links:
            link.set(Fault.REFUSE)
            link.cut()
        await trial.pause(1)
        for link in links:
            link.heal()
        await trial.pause(1)
    await arrives_again(trial, time.time())


async def long_outage(trial: Trial) -> None:
    """B07: the broker is away for ten minutes at 50 events a second; jobs start as before, and order is kept."""
    seconds = 60 * trial.scale
    aim = {"kind": "queue", "name": OUT, "ordered": True}
    await deliver(trial, 50)
    await trial.client.schedules.create("in-order", Every(seconds=1), target=aim, retry=PATIENT, catch_up="all")
    trial.delivering.append("in-order")
    calm = await _starts(trial, 10)
    await broker_of(trial).kill()
    away = await _starts(trial, seconds)
    await broker_of(trial).start()
    up_at = time.time()
    await arrives_again(trial, up_at)
    runs = {run.id: run for key, run in await ended(trial) if key == "in-order"}
    trial.figures.remarks |= {
        "start p99 calm": calm,
        "start p99 away": away,
        "drained in s": round(time.time() - up_at),
    }
    order = [id for id, _ in await broker_of(trial).received() if id in runs]
    first = list(dict.fromkeys(order))
    if first != sorted(runs, key=lambda id: runs[id].scheduled_at):
        trial.figures.findings.append("messages of an ordered schedule overtook one another")
    for key in trial.delivering:
        await trial.client.schedules.resume(key)


async def _starts(trial: Trial, seconds: float) -> float | None:
    """How long jobs of the instances' own took to start, over so many seconds."""
    until, took = time.monotonic() + seconds, []
    while time.monotonic() < until:
        (run,) = await trial.ask(1, "nap", seconds=0)
        done = await trial.client.runs.wait(run.id, timeout=REST_WITHIN)
        assert done.started_at is not None
        took.append((done.started_at - done.fired_at).total_seconds())
        await trial.pause(0.2)
    return percentile(took, 99)
