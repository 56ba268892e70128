"""A Celery worker that knows nothing of duly: `celery -A examples.consumers.celery_tasks worker`.

The schedule's target names the task: `{"kind": "queue", "name": "celery", "headers": {"task": "reports.nightly"}}`.
"""

import json
import os

import redis
from celery import Celery

BROKER = os.environ.get("CELERY_BROKER_URL", "redis://127.0.0.1:6379/0")

app = Celery("reports", broker=BROKER)
app.conf.update(task_acks_late=True, broker_connection_retry_on_startup=True)


@app.task(bind=True, name="reports.nightly")
def nightly(self, user: int) -> None:
    """Write down who a report was made for; the task's id is the run's."""
    told = {"id": self.request.id, "user": user}
    redis.Redis.from_url(BROKER).rpush("reports:made", json.dumps(told))
