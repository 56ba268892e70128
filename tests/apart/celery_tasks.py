"""The tasks of a Celery worker that knows nothing of duly; each writes what it was called with to a Redis list."""

import json
import os

import redis
from celery import Celery

BROKER = os.environ["CELERY_TEST_BROKER"]
app = Celery("tasks", broker=BROKER)
app.conf.update(task_acks_late=True, broker_connection_retry_on_startup=True)


@app.task(bind=True, name="reports.nightly")
def nightly(self, *args, **kwargs):
    told = {"id": self.request.id, "args": args, "kwargs": kwargs, "headers": self.request.headers or {}}
    redis.Redis.from_url(BROKER).rpush("executed", json.dumps(told))
