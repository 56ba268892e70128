"""The public surface: what ``duly`` exports, and what its nouns offer today."""

import inspect

import duly

NAMES = [
    "AttemptRecord",
    "CatchUp",
    "Cron",
    "DeadLetter",
    "Duly",
    "DulyError",
    "Event",
    "Every",
    "Fatal",
    "GatherFailed",
    "Jitter",
    "Jobs",
    "NonDeterminismError",
    "OnEvent",
    "Once",
    "Published",
    "RemoteWorker",
    "Retry",
    "Run",
    "RunContext",
    "RunStatus",
    "Schedule",
    "ScheduleArrived",
    "ScheduleStatus",
    "Settings",
    "SignalTimeout",
    "Snooze",
    "StepContext",
    "StepFailed",
    "WaitTimeout",
    "WorkflowContext",
    "__version__",
    "current_step",
    "explain",
    "verify_webhook",
]


def test_the_public_names_are_these() -> None:
    assert sorted(duly.__all__) == NAMES
    assert all(hasattr(duly, name) for name in NAMES)


def test_the_nouns_of_an_app_offer_these_verbs() -> None:
    app = duly.Duly("sqlite:///never-opened.db")

    def verbs(noun: object) -> list[str]:
        return [name for name, member in inspect.getmembers(noun) if not name.startswith("_") and callable(member)]

    assert set(verbs(app.schedules)) >= {
        "cancel", "create", "create_many", "delete", "get", "iterate", "list", "pause", "preview", "put",
        "reschedule", "resume", "trigger", "upcoming", "update",
    }  # fmt: skip
    assert set(verbs(app.runs)) >= {
        "acknowledge", "acknowledge_many", "attempts", "cancel", "dead", "dead_groups", "get", "iterate", "list",
        "redrive", "redrive_many", "wait",
    }  # fmt: skip
    assert set(verbs(app.calendars)) >= {"delete", "get", "iterate", "list", "put"}
    assert set(verbs(app.queues)) >= {"get", "list", "pause", "resume", "set"}
    assert set(verbs(app)) >= {"cron", "enqueue", "every", "include", "job", "middleware", "run", "start", "stop"}
    assert callable(app.sync.enqueue)


def test_an_app_opens_nothing_until_it_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DULY_DATABASE_URL", raising=False)
    assert duly.Duly().url == "sqlite:///duly.db"
    monkeypatch.setenv("DULY_DATABASE_URL", "sqlite:///other.db")
    assert duly.Duly().url == "sqlite:///other.db"
    assert duly.Duly("sqlite:///mine.db").url == "sqlite:///mine.db"
    duly.Duly("postgresql://nobody@127.0.0.1:1/nothing")
    assert list(tmp_path.iterdir()) == []


def test_a_registered_function_stays_callable() -> None:
    app = duly.Duly("sqlite:///never-opened.db")

    @app.job("add")
    def add(a: int, b: int) -> int:
        return a + b

    assert add(1, 2) == 3


def test_errors_carry_a_code_and_derive_from_one_root() -> None:
    from duly.core import errors

    classes = [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, duly.DulyError)]
    assert len(classes) > 20
    assert all(c.code.isupper() for c in classes)
    assert issubclass(duly.WaitTimeout, TimeoutError)
    assert not issubclass(duly.Fatal, duly.DulyError)


def test_a_name_that_is_not_there_is_missed_as_in_any_module() -> None:
    assert not hasattr(duly, "Celery")
    assert set(NAMES) <= set(dir(duly))
