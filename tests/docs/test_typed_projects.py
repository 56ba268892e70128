"""The commands of docs/integrations.md, and those for programs of one's own, typed on real projects and brokers."""

import json
import shutil

import pytest

from tests.docs.reader import NOT_RUN, Reader, page_blocks, steps
from tests.serve.serving import ROOT

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300, func_only=True)]
PAGE = "docs/integrations.md"
needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not on this machine")


def consoles() -> tuple[str, str, str]:
    """Those of installing, Django and Flask; that of Celery is typed by tests/apart/test_celery_page.py."""
    installed, django, flask, celery = page_blocks(PAGE, "console")
    assert "duly import celery" in celery
    return installed, django, flask


@pytest.fixture
def checkout(reader: Reader) -> Reader:
    """A reader in a folder that has the examples."""
    without = shutil.ignore_patterns("__pycache__", "*.sqlite3*")
    shutil.copytree(ROOT / "examples", reader.folder / "examples", ignore=without)
    return reader


def test_there_is_nothing_else_to_type() -> None:
    assert all((PAGE, step) in NOT_RUN for step in steps(consoles()[0]))


@needs_curl
def test_django(checkout: Reader) -> None:
    go, migrate, web, serve, order = steps(consoles()[1])
    shop = go.removeprefix("cd ")
    checkout.type(migrate, within=shop)
    checkout.given["web"] = checkout.start(web, within=shop).says(r"server at http://(\S+?)/?\s")
    served = checkout.start(serve, within=shop)
    served.url()
    made = json.loads(checkout.type(f"{order} -sS", within=shop))
    seen = f"curl -sS {checkout.given['web']}/orders/{made['order']}/"
    served.until(lambda: json.loads(checkout.type(seen))["receipts"] == 1, "the receipt")


@needs_curl
def test_flask(checkout: Reader) -> None:
    export, web, serve = steps(consoles()[2])
    name, _, value = export.removeprefix("export ").partition("=")
    checkout.variables |= {name: value, "FLASK_RUN_PORT": "0"}
    asked = checkout.start(web).says(r"Running on (http://\S+)")
    served = checkout.start(serve)
    served.url()
    run = json.loads(checkout.type(f"curl -sS -X POST {asked}/reminders/7"))["run"]
    answer = f"curl -sS {asked}/runs/{run}"
    served.until(lambda: json.loads(checkout.type(answer))["result"] == "hello, user 7", "the reminder")


def test_a_worker_that_only_has_http(reader: Reader) -> None:
    (program,) = page_blocks("docs/worker-protocol.md", "python")
    served = reader.serve()
    reader.given["key"] = reader.type("duly key create --name shop --scopes worker -q").strip()
    (reader.folder / "resize.py").write_text(reader.instead(program))
    worker = reader.start("python resize.py")
    reader.type("""duly schedule create cat --cron '0 2 1 1 *' --job resize --payload '{"image": "cat.png"}'""")
    run = reader.type("duly schedule trigger cat -q -o name").strip()

    def result() -> object:
        assert worker.process.poll() is None, worker.said()
        return json.loads(reader.type(f"duly run get {run} -o json -q"))["result"]

    assert served.until(result, "the worker") == {"image": "cat.png", "width": 320}


@needs_curl
def test_a_schedule_for_a_target(reader: Reader, redis_url: str) -> None:
    """The body is taken by a server that has the page's target, and refused by one that has another."""
    (body,) = page_blocks("docs/targets.md", "json")
    shown, owned, _ = page_blocks("docs/targets.md", "toml")
    reader.given["redis"] = redis_url
    for settings in (shown, owned):
        (reader.folder / "duly.toml").write_text(reader.instead(settings))
        assert "notification-queue" in reader.type("duly config show")
    (reader.folder / "duly.toml").write_text(reader.instead(shown))
    (reader.folder / "body.json").write_text(body)
    reader.serve()
    post = 'curl -sS $API/api/v1/schedules -H "Content-Type: application/json" -d @'.replace(
        "$API", reader.given["api"]
    )
    made = json.loads(reader.type(f"{post}body.json"))
    assert made["target"]["name"] == "notification-queue", made
    (reader.folder / "other.json").write_text(body.replace("notification-queue", "no-such-queue"))
    assert json.loads(reader.type(f"{post}other.json"))["status"] == 422


@needs_curl
def test_the_notifications_of_the_examples(checkout: Reader) -> None:
    page = "examples/notifications/README.md"
    first, second = page_blocks(page, "sh")
    install, start = steps(first)
    assert (page, install) in NOT_RUN
    variables, program = start.rsplit("uvicorn", 1)
    name, _, value = variables.strip().partition("=")
    checkout.variables[name] = value.strip("'")
    web = checkout.start(f"uvicorn{program} --port 0").says(r"running on http://(\S+)")
    made = json.loads(checkout.type(second.replace("127.0.0.1:8000", web)))
    assert made["timezone"] == "America/New_York", made
