"""What holds for every command: start-up, usage, streams, colours, and how failures end."""

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shlex import split

import click
import pytest

from duly.cli import COMMANDS, SECTIONS, main
from duly.cli.failing import Refused, exit_code, report
from duly.cli.options import Choices
from duly.cli.printing import Printer
from duly.core import errors
from tests.acceptance.rules import rule
from tests.cli.conftest import Duly, Spawn, clean_environment
from tests.counting import at_least

HEAVY = (
    "asyncio",
    "importlib.resources",
    "fastapi",
    "httpx2",
    "msgspec",
    "apsw",
    "psycopg",
    "pydantic",
    "starlette",
    "uvicorn",
    "duly.app",
)


@rule("S0.23")
@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["cron", "next", "0 9 * * *"], ["schedule", "list", "--help"]],
    ids=lambda arguments: " ".join(arguments),
)
@pytest.mark.processes
def test_what_needs_little_imports_little(arguments: list[str]) -> None:
    """Start-up below 150 ms, without a stopwatch: what is not imported takes no time."""
    code = (
        "import sys; from duly.cli import main\n"
        f"try: main({arguments!r}, prog_name='duly')\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=clean_environment())
    assert done.stderr == "[]\n"


@pytest.mark.processes
def test_a_command_on_a_store_does_not_look_for_packages_that_it_does_not_need(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'duly.db'}"
    code = (
        "import sys; from duly.cli import main\n"
        f"try: main(['schedule', 'list', '--database-url', {url!r}], prog_name='duly')\n"
        "except SystemExit: pass\n"
        "print('duly.app' in sys.modules, 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=clean_environment())
    assert done.stdout.splitlines()[-1] == "True False", done.stderr


def test_every_command_says_what_it_does(duly: Duly) -> None:
    told = duly("--help").stdout
    for name, (_, words) in at_least(COMMANDS, 27, "commands").items():
        assert f"  {name} " in told
        assert words.split()[0] in told


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"bench"}))
def test_every_command_has_help(duly: Duly, name: str) -> None:
    done = duly(name, "-h")
    assert done.exit_code == 0
    assert done.stdout.startswith(f"Usage: duly {name}")


def every_command(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group, info_name=path[-1] if path else "duly")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))
        else:
            yield (*path, name), command


EVERY_COMMAND = at_least(list(every_command(main)), 81, "commands")


@pytest.mark.parametrize("path, command", [pytest.param(*case, id=" ".join(case[0])) for case in EVERY_COMMAND])
def test_every_command_shows_examples_that_it_understands(path: tuple[str, ...], command: click.Command) -> None:
    if path in {("bench",), ("completion",)}:
        return  # the options of another program, and words of a shell
    lines = [line.strip() for line in (command.help or "").splitlines()]
    examples = [split(line, comments=True) for line in lines if line.startswith(f"duly {' '.join(path)}")]
    assert examples
    for words in examples:
        given = words[len(path) + 1 :]
        assert tuple(words[1 : len(path) + 1]) == path
        given = given[: given.index(">")] if ">" in given else given
        command.make_context(" ".join(path), given, obj=Choices(), help_option_names=["-h", "--help"])


@pytest.mark.processes
def test_the_help_says_no_types_of_the_program(duly: Duly) -> None:
    for path, _ in EVERY_COMMAND:
        told = duly(*path, "--help").stdout
        assert not re.search(r" (INTEGER|FLOAT|STRING)\b", told), path


def test_each_command_has_one_place_in_the_help() -> None:
    at_least(COMMANDS, 27, "commands")
    assert sorted(COMMANDS) == sorted(name for section in SECTIONS.values() for name in section)


@pytest.mark.parametrize("arguments", [[], ["schedule"], ["cron"], ["db"]], ids=lambda arguments: " ".join(arguments))
def test_a_group_alone_shows_what_is_in_it(duly: Duly, arguments: list[str]) -> None:
    done = duly(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: duly ")
    assert "\nCommands:\n" in done.stderr


def test_the_module_runs_as_the_command(spawn: Spawn) -> None:
    done = spawn("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("duly, version ")


@pytest.mark.parametrize(
    "arguments", [["crom"], ["cron", "--frequency"], ["cron", "next"], ["cron", "next", "-o", "xml", "x"]]
)
def test_bad_usage_is_exit_code_2_and_says_where_help_is(spawn: Spawn, arguments: list[str]) -> None:
    done = spawn(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("duly: ")
    assert "--help` shows" in done.stderr


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["sevre"], "there is no command 'sevre'; did you mean 'serve'?"),
        (["schedule", "crate"], "there is no command 'crate'; did you mean 'create'?"),
        (["qqq"], "there is no command 'qqq'\n"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_a_misspelt_command_names_the_nearest(duly: Duly, arguments: list[str], told: str) -> None:
    done = duly(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"duly: {told}")


@rule("K5")
@pytest.mark.parametrize(
    "error, code",
    [
        (errors.CronInvalid("x"), 2),
        (errors.PayloadTooLarge("x"), 2),
        (errors.NotFound("x"), 3),
        (errors.KeyInUse("key", "id"), 4),
        (errors.RevisionStale("x"), 4),
        (errors.StoreUnavailable("x"), 69),
        (errors.ServerUnreachable("x"), 69),
        (errors.OutcomeUnknown("x"), 69),
        (errors.NotAuthorised("x"), 77),
        (errors.ConfigurationError("x"), 78),
        (errors.SchemaMismatch("x"), 78),
        (errors.StoreMissing("x"), 78),
        (errors.StoreError("x"), 1),
        (errors.ServerError("x"), 1),
        (errors.DulyError("x"), 1),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: errors.DulyError, code: int) -> None:
    assert exit_code(error) == code


def test_an_unforeseen_error_is_a_line_and_no_trace(duly: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("duly.cli.cron._cron", fail)
    done = duly("cron", "next", "0 9 * * *")
    assert done.exit_code == 1
    assert done.stderr.startswith("duly: something unforeseen happened: ZeroDivisionError: of all things\n")
    assert "DULY_DEBUG=1" in done.stderr
    traced = duly("cron", "next", "0 9 * * *", env={"DULY_DEBUG": "1"})
    assert isinstance(traced.exception, ZeroDivisionError)


@pytest.mark.processes
def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m duly cron next '* * * * * *' -n 1000 | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=clean_environment())
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def in_a_shell(command: str) -> "subprocess.CompletedProcess[str]":
    words = command.replace("duly", f"{sys.executable} -m duly", 1)
    return subprocess.run(["sh", "-c", words], capture_output=True, text=True, env=clean_environment(), check=False)


@pytest.mark.processes
def test_a_reader_that_goes_away_is_told_from_a_failure_as_shells_do() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "duly", "cron", "next", "0 9 * * *"],
        stdout=writer, stderr=subprocess.PIPE, text=True, env=clean_environment(), check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
@pytest.mark.processes
def test_a_full_disk_is_told_as_what_it_is() -> None:
    done = in_a_shell("duly cron next '0 9 * * *' > /dev/full")
    assert (done.returncode, done.stderr) == (1, "duly: the output cannot be written: No space left on device\n")


@pytest.mark.processes
def test_a_closed_stdout_hides_the_data_and_nothing_else() -> None:
    done = in_a_shell("duly cron next '0 9 * * *' >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.processes
def test_a_closed_stdin_has_nobody_to_ask(duly: Duly) -> None:
    duly("schedule", "create", "k", "--every", "1h", "--job", "j")
    done = in_a_shell("duly schedule delete k <&-")
    assert done.returncode == 2
    assert done.stderr.startswith("duly: Delete schedule k? Nobody is there to ask\n")


def test_what_a_server_or_a_file_says_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    report(Refused("it said \x1b[2J", "look at \x1b[31m", lines=["line \x07"]))
    Printer("table", quiet=False).say("warning: \x1b[2J\nsecond line")
    assert capsys.readouterr().err.splitlines() == [
        r"duly: it said \x1b[2J", r"      line \x07", r"      look at \x1b[31m", r"warning: \x1b[2J", "second line",
    ]  # fmt: skip


@pytest.mark.processes
def test_ctrl_c_is_exit_code_130() -> None:
    code = "import signal, os; from duly.cli import cron, main\n" \
           "cron._cron = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n" \
           "main(['cron', 'next', '0 9 * * *'], prog_name='duly')"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=clean_environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def in_a_terminal(arguments: list[str], env: dict[str, str] | None = None, typed: str = "") -> str:
    """What ``duly`` prints when it is looked at, and typed at."""
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    subprocess.run(
        [sys.executable, "-m", "duly", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=clean_environment(env),
        check=False,
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # how a terminal says that it was hung up
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    return shown.decode()


CRON = ["cron", "next", "0 9 * * *", "-n", "1"]


@pytest.mark.processes
def test_colours_are_for_terminals_only(duly: Duly) -> None:
    assert "\x1b[" in in_a_terminal(CRON)
    assert "\x1b[" not in in_a_terminal(CRON, {"NO_COLOR": "1"})
    assert "\x1b[" not in in_a_terminal(CRON, {"NO_COLOR": "1", "FORCE_COLOR": "1"})
    assert "\x1b[" not in duly(*CRON).stdout
    assert "\x1b[" in duly(*CRON, env={"FORCE_COLOR": "1"}).stdout


@pytest.mark.processes
def test_tables_fit_the_terminal_and_are_whole_in_a_pipe(duly: Duly) -> None:
    note = ["cron", "next", "30 2 * * *", "-z", "Europe/Berlin", "-n", "1", "--after", "2027-03-27T23:00:00Z"]
    assert all(len(line) <= 80 for line in in_a_terminal(note, {"COLUMNS": "80", "NO_COLOR": "1"}).splitlines())
    assert "clocks go forward" in duly(*note, env={"COLUMNS": "80"}).stdout


@pytest.mark.parametrize(
    "shell, word", [("bash", "complete -o"), ("zsh", "#compdef duly"), ("fish", "complete --no-files")]
)
@pytest.mark.processes
def test_shells_can_complete(duly: Duly, shell: str, word: str) -> None:
    done = duly("completion", shell)
    assert done.exit_code == 0
    assert word in done.stdout


def test_completion_knows_the_commands(spawn: Spawn) -> None:
    done = spawn(env={"_DULY_COMPLETE": "bash_complete", "COMP_WORDS": "duly sch", "COMP_CWORD": "1"})
    assert {"plain,schedule", "plain,scheduler"} <= set(done.stdout.split())


def test_the_entry_point_is_the_root(tmp_path: Path) -> None:
    assert main.name == "main"


@pytest.mark.processes
def test_on_a_terminal_what_cannot_be_undone_is_asked_about(duly: Duly) -> None:
    duly("schedule", "create", "k", "--every", "1h", "--job", "j")
    kept = in_a_terminal(["schedule", "delete", "k"], typed="n\n")
    assert "Delete schedule k? [y/N]" in kept
    assert "nothing was changed" in kept
    assert duly("schedule", "list", "-o", "name").stdout == "k\n"
    assert "deleted schedule k" in in_a_terminal(["schedule", "delete", "k"], typed="y\n")
    assert duly("schedule", "list", "-o", "name").stdout == ""
