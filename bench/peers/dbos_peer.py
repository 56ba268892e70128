"""DBOS on PostgreSQL: workflows of two trivial steps, queued.

usage: workflows N | sync N
All are enqueued first, by its client; then one process runs them, and the clock stops when the store shows all ends.
It is set up as well as its settings allow: it looks at the queue every 10 ms instead of every second, has a pool of 32
connections and no bound on how many go at once. ``sync`` is the same with plain functions, which go on threads.
"""

from __future__ import annotations

import logging
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
from common import answer, fresh_postgres
from dbos import DBOS, DBOSClient, DBOSConfig

NAME, QUEUE = "two-steps", "bench"
ENDED = "select count(*) from dbos.workflow_status where status = 'SUCCESS'"
STARTERS = 16
GIVE_UP = 300.0
logging.disable(logging.WARNING)


@DBOS.step()
async def plus_one(number: int) -> int:
    return number + 1


@DBOS.workflow(name=NAME)
async def two_steps(number: int) -> int:
    return await plus_one(await plus_one(number))


@DBOS.step()
def plus_one_sync(number: int) -> int:
    return number + 1


@DBOS.workflow(name=f"{NAME}-sync")
def two_steps_sync(number: int) -> int:
    return plus_one_sync(plus_one_sync(number))


def launch(url: str) -> None:
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": url,
        "sys_db_pool_size": 32,
        "log_level": "ERROR",
        "application_version": "1",
        "executor_id": "bench",
    }
    DBOS(config=config)
    DBOS.launch()
    DBOS.register_queue(QUEUE, polling_interval_sec=0.01)


def enqueue(url: str, name: str, n: int) -> None:
    client = DBOSClient(system_database_url=url)

    def start(number: int) -> None:
        client.enqueue({"workflow_name": name, "queue_name": QUEUE, "workflow_id": f"w{number}"}, number)

    with ThreadPoolExecutor(STARTERS) as pool:
        list(pool.map(start, range(n)))
    client.destroy()


def main() -> None:
    kind, n = sys.argv[1], int(sys.argv[2])
    url = fresh_postgres("peer_dbos")
    launch(url)
    DBOS.destroy()
    enqueue(url, NAME if kind == "workflows" else f"{NAME}-sync", n)
    with psycopg.connect(url, autocommit=True) as looker:
        began = time.time()
        launch(url)
        ended = 0
        while ended < n and time.time() < began + GIVE_UP:
            time.sleep(0.1)
            row = looker.execute(ENDED).fetchone()
            ended = row[0] if row else 0
        passed = time.time() - began
    result = DBOS.retrieve_workflow(f"w{n - 1}").get_result() if ended == n else None
    wrong = 0 if result == n + 1 else 1
    answer({"per_s": ended / passed, "steps_per_s": 2 * ended / passed, "missed": n - ended, "wrong": wrong})


main()
