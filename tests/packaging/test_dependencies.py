"""pyproject.toml declares what the package imports, in the extra that needs it, and nothing else."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

NOT_IMPORTED = {
    "opentelemetry-sdk": "the provider of spans, which the user's program or opentelemetry-instrument sets up",
    "opentelemetry-exporter-otlp-proto-http": "loaded by the SDK, by its entry point",
}

EXTRA_OF = {
    "duly.api": "server",
    "duly.api.auth.jwt": "oidc",
    "duly.api.auth.keyset": "oidc",
    "duly.cli.formats": "yaml",
    "duly.cli.importing.beat_tables": "postgres",
    "duly.cli.serving": "server",
    "duly.dashboard": "server",
    "duly.engine.redis_ballot": "redis",
    "duly.integrations.django.transactions": "postgres",
    "duly.store.sealing": "encryption",
    "duly.targets.posting": "webhook",
    "duly.telemetry.exposition": "server",
    "duly.telemetry.tracing": "otel",
}
"""The extra of a module or package whose name is not an extra's own; `duly.targets.nats` needs no line here."""


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def parsed(requirement: str) -> tuple[str, list[str]]:
    """The distribution that a requirement names, and its extras."""
    found = re.match(r"([A-Za-z0-9._-]+)(?:\[([^]]*)])?", requirement)
    assert found, requirement
    return normalized(found[1]), [extra.strip() for extra in (found[2] or "").split(",") if extra]


def distributions_of(extra: str) -> set[str]:
    """What an extra installs by its own lines and by those of the extras that it names."""
    found = set()
    for name, extras in map(parsed, EXTRAS[extra]):
        found |= {name} if name != "duly" else set().union(*map(distributions_of, extras))
    return found


BASE = {parsed(requirement)[0] for requirement in PROJECT["dependencies"]}
DECLARED = BASE | {name for lines in EXTRAS.values() for name, _ in map(parsed, lines)} - {"duly"}


@cache
def _providers() -> dict[str, list[str]]:
    return {
        top: sorted({normalized(name) for name in names}) for top, names in metadata.packages_distributions().items()
    }


def distribution_of(module: str) -> str:
    """The distribution that provides a module; one that is not installed here is taken to have the module's name."""
    top = module.partition(".")[0]
    providers = _providers().get(top, [normalized(top)])
    if len(providers) == 1:
        return providers[0]
    folder = module.replace(".", "/")
    owners = [
        name for name in providers
        if any(str(file) in (f"{folder}.py", f"{folder}/__init__.py") for file in metadata.files(name) or ())
    ]  # fmt: skip
    assert len(owners) == 1, f"{module} is provided by {providers}; expected one of them"
    return owners[0]


def third_party_imports() -> Iterator[tuple[str, str]]:
    """Each module of ours with a distribution that it imports, anywhere in its file."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        ours = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                package = node.module.partition(".")[0]
                spread = len(_providers().get(package, ())) > 1 and node.module == package
                names = [f"{package}.{alias.name}" for alias in node.names] if spread else [node.module]
            for name in names:
                if name.partition(".")[0] not in {*sys.stdlib_module_names, "duly"}:
                    yield ours, distribution_of(name)


@cache
def imports() -> frozenset[tuple[str, str]]:
    return frozenset(third_party_imports())


def line_about(module: str) -> str | None:
    """The nearest entry of EXTRA_OF: the module itself or a package that it is in."""
    while module and module not in EXTRA_OF:
        module = module.rpartition(".")[0]
    return module or None


def available(module: str) -> set[str]:
    """What a module may import by its name: the base, and each extra that a part of the name names."""
    return BASE.union(*map(distributions_of, EXTRAS.keys() & set(module.split("."))))


def test_every_import_is_declared_in_the_extra_of_its_module() -> None:
    assert len(imports()) >= 180, "imports were found in fewer modules than there are"
    undeclared = {
        (module, name)
        for module, name in imports()
        if name not in available(module)
        and not ((line := line_about(module)) and name in distributions_of(EXTRA_OF[line]))
        # pytest itself loads the plugin, and what the plugin offers
        and not (name == "pytest" and module.startswith("duly.testing"))
    }
    assert undeclared == set()


def test_every_declared_dependency_is_imported() -> None:
    assert len(DECLARED) == 31, "a dependency was added or dropped: change the number with it"
    imported = {name for _, name in imports()}
    assert DECLARED - imported == set(NOT_IMPORTED)


def test_every_entry_about_a_module_is_needed() -> None:
    assert {line_about(module) for module, name in imports() if name not in available(module)} - {None} == {*EXTRA_OF}


def test_all_names_every_other_extra() -> None:
    ((name, extras),) = map(parsed, EXTRAS["all"])
    assert (name, set(extras)) == ("duly", EXTRAS.keys() - {"all"})


def test_no_two_extras_are_spelled_out_alike() -> None:
    seen = {frozenset(lines) for lines in EXTRAS.values()}
    assert len(seen) == len(EXTRAS) == 17
