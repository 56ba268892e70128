"""Finds out what was chosen: flags > environment > files > defaults, and where each value came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from duly.core.database_schema import with_schema
from duly.core.errors import ConfigurationError, DulyError, ValidationFailed

from .declared import place_of, read_schedules
from .masking import mask, mask_url
from .options import OPTIONS, Option, Refused
from .settings import Settings
from .sources import process_environment, read_pointer, usual_files
from .targets import PREFIX, Sourced, read_targets
from .toml import File, read_file
from .unknown import nearest

DEFAULT = "default"
OUR_SCHEMES = ("sqlite:", "postgresql:", "postgres:")


@dataclass(frozen=True, slots=True)
class Row:
    """One value as ``duly config show`` prints it: secrets are masked."""

    name: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Every value with its origin. ``schedules`` are the arguments of ``Duly(schedules=…)``, ``places`` where each is.

    ``warnings`` are lines for a person: nothing was refused, but somebody may have meant something else.
    """

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    settings: Settings
    schedules: tuple[Mapping[str, Any], ...]
    places: Mapping[str, str]
    targets: Mapping[str, Sourced]
    files: tuple[str, ...]
    warnings: tuple[str, ...]

    def __getitem__(self, path: str) -> Any:
        """A value by its dotted name, such as ``api.port``."""
        return self.values[path]

    @property
    def database_url(self) -> str:
        """With the schema, where somebody chose one and the URL names none."""
        return with_schema(str(self.values["database.url"]), self.chosen_schema)

    @property
    def chosen_schema(self) -> str | None:
        return self.values["database.schema"] if self.chosen("database.schema") else None

    def chosen(self, path: str) -> bool:
        """Whether anybody chose it, or it is the default."""
        return self.origins[path] != DEFAULT

    def rows(self) -> list[Row]:
        """All values by name, for people; secrets and passwords in URLs are masked."""
        shown = [Row(path, mask(OPTIONS[path], self.values[path]), self.origins[path]) for path in OPTIONS]
        for name, (url, origin, grant) in self.targets.items():
            shown.append(Row(f"targets.{name}.url", mask_url(url), origin))
            shown += [
                Row(f"targets.{name}.{word}", sorted(names), ", ".join(self.files))
                for word, names in (("owners", grant.owners), ("tenants", grant.tenants))
                if names
            ]
        declared = [Row("schedules", [item["key"] for item in self.schedules], ", ".join(self.files))]
        return shown + (declared if self.schedules else [])


def load(
    flags: Mapping[str, object] | None = None,
    *,
    config: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Loaded:
    """Read everything once. ``flags`` are by dotted name; None in them was not given.

    A wrong flag is ``ValidationFailed``, anything else that is wrong ``ConfigurationError``. ``config`` is the
    ``--config`` flag. A file that was named must exist; the usual ones need not. Where several
    exist, a value comes from the strongest that has it.
    """
    found = process_environment() if environment is None else environment
    files = _files(config, found, folder or Path())
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for path, option in OPTIONS.items():
        values[path], origins[path] = _find(option, flags or {}, found, files)
    settings = _settings(values, origins)
    schedules = [(item, file) for file in files for item in read_schedules(file, settings.min_interval_ms)]
    strongest = {item["key"]: (item, place_of(file, item["key"])) for item, file in reversed(schedules)}
    return Loaded(
        values=values,
        targets=read_targets(found, files),
        origins=origins,
        settings=settings,
        schedules=tuple(item for item, _ in strongest.values())[::-1],
        places={key: place for key, (_, place) in strongest.items()},
        files=tuple(file.name for file in files),
        warnings=tuple(_strange_variables(found)),
    )


def _find(
    option: Option, flags: Mapping[str, object], environment: Mapping[str, str], files: list[File]
) -> tuple[Any, str]:
    if flags.get(option.path) is not None:
        given = flags[option.path]
        value = _read(option.kind.read, given, option.flag, secret=option.secret, error=ValidationFailed)
        return value, f"flag {option.flag}"
    for variable in option.variables:
        if (given := _variable(option, variable, environment)) is not None:
            text, origin = given
            return _read(option.kind.parse, text, origin, secret=option.secret), origin
    for file in files:
        if (value := file.value(option)) is not None:
            return _read(option.kind.read, value, f"{file.name}: {option.shown}", secret=option.secret), file.name
    return option.default, DEFAULT


def _variable(option: Option, variable: str, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """The text and origin of a variable, of its ``_FILE`` form for a secret, or None."""
    text = environment.get(variable) or None
    if text is not None and not _meant_for_us(variable, text):
        text = None
    if not option.secret or not environment.get(f"{variable}_FILE"):
        return None if text is None else (text, variable)
    if text is not None:
        raise ConfigurationError(f"{variable} and {variable}_FILE are both set; keep one of them")
    return read_pointer(environment, f"{variable}_FILE"), f"{variable}_FILE"


def _meant_for_us(variable: str, text: str) -> bool:
    """Others set such variables too: Kubernetes for services named duly and duly-api, Django for its own database."""
    if variable == "DATABASE_URL":
        return text.startswith(OUR_SCHEMES)
    return not (variable.endswith("PORT") and text.startswith("tcp://"))


def _read(
    read: Callable[[Any], Any],
    value: object,
    where: str,
    *,
    secret: bool = False,
    error: type[DulyError] = ConfigurationError,
) -> Any:
    try:
        return read(value)
    except Refused as refused:
        shown = "not usable" if secret else f'"{value}"' if isinstance(value, str) else repr(value)
        raise (refused.error or error)(
            f"{where} is {shown}; expected {refused}",
            path=where,
            got=None if secret else value,
            expected=str(refused),
            hint=refused.hint,
        ) from None


def _files(config: str | Path | None, environment: Mapping[str, str], folder: Path) -> list[File]:
    """What was named alone is read before the usual places."""
    named = str(config) if config is not None else environment.get("DULY_CONFIG") or None
    files = []
    if named is not None:
        try:
            files.append(read_file(Path(named), named))
        except OSError as error:
            flag = "--config" if config is not None else "DULY_CONFIG"
            raise ConfigurationError(f"{flag} is {named!r}, which cannot be read: {_why(error)}") from error
    for place in usual_files(environment, folder):
        try:
            files.append(read_file(place, place.name if place.parent == folder else str(place)))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise ConfigurationError(f"{place} cannot be read: {_why(error)}") from error
    return files


def _settings(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    try:
        return Settings(**{field.name: values[field.name] for field in fields(Settings)})
    except ConfigurationError as error:
        chosen = sorted({origins[field.name] for field in fields(Settings)} - {DEFAULT})
        raise ConfigurationError(f"{error} (from {', '.join(chosen)})") from error


def _strange_variables(environment: Mapping[str, str]) -> list[str]:
    """Say which ``DULY_`` variables look misspelt; others may belong to scripts and tests, and are left alone."""
    known = {name for option in OPTIONS.values() for name in option.variables}
    known |= {f"{name}_FILE" for option in OPTIONS.values() if option.secret for name in option.variables}
    known |= {"DULY_CONFIG", "DULY_DEBUG"}
    strange = [
        f"environment variable {name} is unknown; did you mean {meant}?"
        for name in sorted(environment)
        if name.startswith("DULY_") and not name.startswith(PREFIX)
        if name not in known and _meant_for_us(name, environment[name]) and (meant := nearest(name, known))
    ]
    ours = any(environment.get(name) for name in ("DULY_DATABASE_URL", "DULY_DATABASE__URL", "DULY_DATABASE_URL_FILE"))
    if not ours and not environment.get("DATABASE_URL", OUR_SCHEMES[0]).startswith(OUR_SCHEMES):
        strange.append(
            "DATABASE_URL is of a database that duly does not speak and was passed over; set DULY_DATABASE_URL"
        )
    return strange


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
