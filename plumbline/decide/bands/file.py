"""The band file: when a changed agent still counts as the same agent, field by field, versioned and approved."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from plumbline.base.errors import BandError
from plumbline.decide.bands.parts import (
    FIELDS,
    CalibrationRecord,
    Grants,
    Name,
    Noise,
    Override,
    Part,
    Rules,
    Slice,
    Tool,
)
from plumbline.decide.bands.reading import parse_yaml, plain, problems_of, read_text
from plumbline.decide.bands.settings import Setting, settings_of
from plumbline.decide.evidence import digest_of

__all__ = ["SCHEMA", "BandFile", "bands_schema", "load_bands", "parse_bands", "sample_bands"]

SCHEMA = "plumbline.bands/1"


class BandFile(Part):
    """One version of the tolerance bands of an agent.

    Build it with ``load_bands``. ``rules`` holds the rule of each field (``bands.rules["text"].pass_.at_least``),
    ``settings`` every edge with its direction, ``digest`` names the content whatever its spelling and comments.
    """

    format: Literal["plumbline.bands/1"] = Field(alias="schema")
    version: Annotated[int, Field(ge=1)]
    """Counts up by one with every approved change."""
    owner: Name
    """Who owns the agent."""
    approver: Name
    """Who approved this version; never the owner."""
    created: date
    in_force: date | None = None
    """From which day it holds; by default the day it was created."""
    note: str = ""
    tools: dict[Name, Tool] = Field(default_factory=dict)
    rules: Rules
    slices: dict[Name, Slice] = Field(default_factory=dict)
    overrides: tuple[Override, ...] = ()
    grants: Grants | None = None
    noise: Noise = Noise()
    calibration: CalibrationRecord | None = None
    _source: str = PrivateAttr(default="")
    _text: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if self.owner == self.approver:
            raise _at("approver", f"owner and approver are both {self.owner!r}; nobody approves a band of their own")
        if self.in_force is not None and self.in_force < self.created:
            raise _at(
                "in_force",
                f"in_force {self.in_force} lies before created {self.created}; write that day or a later one",
            )
        for field in ("arguments", "agents"):
            if field in self.rules and self.rules[field].pass_.free_text and "text" not in self.rules:
                raise _at("rules", f"{field} declares free text; add rules.text to judge it by")
        texts = [rules.text for rules in (self.rules, *(o.rules for o in self.overrides)) if rules.text is not None]
        scorers = {rule.scorer for rule in texts} | ({self.calibration.scorer} if self.calibration and texts else set())
        if len(scorers) > 1:
            found = ", ".join(sorted(scorers))
            raise _at("rules", f"scores of different scorers are never mixed; found {found}: name one")
        scopes = [override.scope for override in self.overrides]
        if twice := sorted({scope for scope in scopes if scopes.count(scope) > 1}):
            raise _at("overrides", f"{twice[0]} is overridden twice; write its rules in one entry")
        for override in self.overrides:
            if override.slice is not None and override.slice not in self.slices:
                known = ", ".join(self.slices) or "none"
                raise _at("overrides", f"an override names the slice {override.slice!r}; declared slices: {known}")
        return self

    @property
    def digest(self) -> str:
        """Digest of the content, whatever its spelling, order and comments, as ``sha256:…``."""
        return digest_of(self.to_dict())

    @property
    def source(self) -> str:
        """Name of the file it was read from, empty if it was not."""
        return self._source

    @property
    def text(self) -> str:
        """The file as it was read, comments included."""
        return self._text

    @property
    def settings(self) -> dict[tuple[str, str, str], Setting]:
        """Every edge and list by ``(field, scope, name)``, each with the direction that is tighter."""
        return settings_of(self)

    def tightness(self, field: str, name: str, *, scope: str = "") -> str:
        """Return which way an edge is tighter: ``higher``, ``lower``, ``more``, ``fewer`` or ``unordered``.

        Examples
        --------
        >>> sample_bands().tightness("latency", "pass.at_most")
        'lower'
        """
        return self.settings[field, scope, name].tighter

    def to_dict(self) -> dict[str, Any]:
        """Return the content as JSON values, as a file holds them, defaults filled in."""
        return self.model_dump(mode="json", by_alias=True)

    def slices_of(self, fixture: str, context: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        """Return the declared slices that a fixture belongs to, in the order of the file."""
        context = context or {}
        found = []
        for name, part in self.slices.items():
            named = not part.fixtures or any(fnmatchcase(fixture, pattern) for pattern in part.fixtures)
            if named and all(key in context and context[key] == value for key, value in part.where.items()):
                found.append(name)
        return tuple(found)

    def rule_for(self, field: str, fixture: str, slices: tuple[str, ...] = ()) -> tuple[Any, str] | None:
        """Return the rule of a field for a fixture and its scope: its own, else that of its last slice, else the rule.

        Returns
        -------
        (rule, scope) or None
            None where the field is not ruled.
        """
        if not self.overrides:
            rule = getattr(self.rules, field)
            return None if rule is None else (rule, "")
        for wanted in (f"fixture:{fixture}", *(f"slice:{name}" for name in reversed(slices))):
            for override in self.overrides:
                if override.scope == wanted and field in override.rules:
                    return override.rules[field], wanted
        return (self.rules[field], "") if field in self.rules else None

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields that some rule judges, in the order of a report."""
        inside = [self.rules, *(override.rules for override in self.overrides)]
        return tuple(field for field in FIELDS if any(field in rules for rules in inside))

    def __str__(self) -> str:
        from plumbline.decide.bands.words import file_text

        return file_text(self)

    def __repr__(self) -> str:
        return f"BandFile(version={self.version}, digest={self.digest[:19]!r})"


def _at(key: str, message: str) -> PydanticCustomError:
    """Return an error about one key of the file, so that its line can be named."""
    return PydanticCustomError("placed", "{said}", {"at": key, "said": message})


def load_bands(path: str | Path, *, today: date | None = None) -> BandFile:
    """Read a band file.

    Parameters
    ----------
    path : path
        A YAML file; ``bands_schema()`` is its JSON Schema.
    today : date, optional
        The day of reading: a file created later than this is refused. By default dates are not compared with a clock.

    Returns
    -------
    BandFile

    Raises
    ------
    NotFoundError
        There is no such file.
    BandError
        Anything wrong in it, each with its line and how to mend it (``.problems``).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "bands.yaml")
    ...     _ = path.write_text(sample_bands().text)
    ...     load_bands(path).rules["text"].pass_.at_least
    0.92
    """
    path = Path(path)
    return parse_bands(read_text(path), source=str(path), today=today)


def parse_bands(text: str, *, source: str = "bands", today: date | None = None) -> BandFile:
    """Read a band file from its text; as ``load_bands``."""
    tree, lines = parse_yaml(text, source)
    values = plain(tree)
    try:
        bands = BandFile.model_validate(values)
    except ValidationError as error:
        problems = problems_of(error, source=source, lines=lines, model=BandFile, given=values)
        raise BandError(f"{source} is no band file yet: {len(problems)} to mend", problems) from None
    if today is not None and bands.created > today:
        where = f"{source}, line {lines['created',]}, created"
        problem = f"{where}: {bands.created} lies in the future (today is {today}); write the day it was written"
        raise BandError(f"{source} is no band file yet: 1 to mend", [problem])
    bands._source, bands._text = source, text
    return bands


def sample_bands() -> BandFile:
    """Return the band file that ``plumbline bands init`` starts from.

    Examples
    --------
    >>> sample_bands().version
    1
    """
    file = Path(__file__).with_name("_templates") / "bands.yaml"
    return parse_bands(file.read_text(encoding="utf-8"), source="the sample band file")


def bands_schema() -> dict[str, Any]:
    """Return the JSON Schema of a band file.

    Examples
    --------
    >>> bands_schema()["$id"]
    'plumbline.bands/1'
    """
    schema = BandFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA} | schema
