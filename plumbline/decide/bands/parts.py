"""What a band file is made of: one rule a field, with its reason, its severity and what passes, warns and fails."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from plumbline.decide.bands.units import Ratio, Score

__all__ = [
    "FIELDS",
    "GROUPS",
    "Agents",
    "Arguments",
    "CalibrationRecord",
    "Checks",
    "Forbidden",
    "Grants",
    "Noise",
    "Order",
    "Override",
    "Part",
    "RatioBand",
    "RatioRule",
    "Rule",
    "Rules",
    "ScoreBand",
    "Slice",
    "Structure",
    "Text",
    "Tool",
    "ToolSet",
]

GROUPS = {
    "text": "text",
    "structure": "structure",
    "arguments": "arguments",
    "order": "tool_calls",
    "checks": "tool_calls",
    "forbidden": "tool_calls",
    "tool_set": "tool_calls",
    "agents": "tool_calls",
    "latency": "latency",
    "tokens": "tokens",
    "cost": "cost",
    "steps": "steps",
}
"""Field to the group that roles speak of; settings of ``tools`` and ``grants`` belong to ``tool_calls`` as well."""
FIELDS = tuple(GROUPS)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Why = Annotated[str, StringConstraints(strip_whitespace=True, min_length=8)]
Names = tuple[Name, ...]
Severity = Literal["block", "warning"]


class Part(BaseModel):
    """A piece of a band file: frozen, and no key is read that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, use_attribute_docstrings=True)


class ScoreBand(Part):
    """Similarities from ``at_least`` to 1."""

    at_least: Score


class RatioBand(Part):
    """Ratios of the candidate to the baseline between two edges, both of which belong to the band."""

    at_least: Ratio | None = None
    at_most: Ratio | None = None

    @model_validator(mode="after")
    def _has_an_edge(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give at_least, at_most or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError("at_least lies above at_most, so nothing could pass")
        return self


class Rule(Part):
    """One field's band. What neither passes nor warns fails."""

    why: Why
    """The reason of this band, in plain words."""
    severity: Severity = "block"
    """Whether a failure holds the release or is shown as a warning."""
    fail: Literal["otherwise"] = "otherwise"


class _Scored(Rule):
    pass_: ScoreBand = Field(alias="pass")
    warn: ScoreBand | None = None

    @model_validator(mode="after")
    def _wider(self) -> Self:
        if self.warn is not None and self.warn.at_least > self.pass_.at_least:
            raise ValueError("warn.at_least lies above pass.at_least; the warned band is the wider one")
        return self


class Text(_Scored):
    """Similarity of the two answers; between ``warn`` and ``pass`` lies the grey zone that a reviewer reads."""

    at: str | None = None
    """Where the text stands in an answer that is JSON, ``a.b`` for a nested key; by default the whole answer."""
    scorer: Name = "lexical"
    """Name of the scorer; scores of different scorers are never mixed."""


class StructurePass(Part):
    """What shape an answer must have."""

    required: Names = ()
    optional: Names = ()
    others: Literal["refuse", "allow"] = "refuse"
    """What becomes of a key that is neither required nor optional."""
    exact: Names = ()
    """Keys whose values must equal those of the baseline."""
    types: dict[str, Any] = Field(default_factory=dict)
    """JSON Schema of the answer."""


class Structure(Rule):
    """Keys and types of an answer that is JSON, without tolerance."""

    of: Literal["final_output", "outcome"] = "final_output"
    pass_: StructurePass = Field(alias="pass")


class ArgumentsPass(Part):
    """Which arguments are free text; everything else is compared exactly."""

    free_text: dict[Name, Names] = Field(default_factory=dict)
    """Tool to the arguments that are free text and get the text band."""
    ignored: dict[Name, Names] = Field(default_factory=dict)
    """Tool to the arguments that do not count, such as a request id."""


class Arguments(Rule):
    """The split rule: identifiers, amounts and enumerations exact, free text under the text band."""

    pass_: ArgumentsPass = Field(alias="pass", default_factory=ArgumentsPass)


class Order(Rule):
    """In which order tools are called."""

    pass_: Literal["same", "same_unless_idempotent", "any"] = Field(alias="pass")


class CheckBefore(Part):
    """A check that must have succeeded before an effect."""

    call: Name
    before: Name
    by: Name | None = None
    """Argument that names the entity: the check must be of the same one."""


class Checks(Rule):
    """Checks that must come before effects."""

    pass_: tuple[CheckBefore, ...] = Field(alias="pass", min_length=1)


class Forbidden(Rule):
    """Tools that must never be called."""

    pass_: Names = Field(alias="pass", min_length=1)
    """The forbidden tools: the band is held by calling none of them."""


class ToolSet(_Scored):
    """Similarity of the two sets of tools (Jaccard)."""


class AgentsPass(Part):
    """What an agent that is called as a tool is held to."""

    invoked: Literal["same", "any"] = "same"
    """Which agents are called, after which tool call."""
    free_text: dict[Name, Names] = Field(default_factory=dict)
    transcripts: Literal["required", "not_required"] = "required"
    """Whether each call must have its child's steps on record."""


class Agents(Rule):
    """Connected agents called as tools: when, with what, and with their own transcript."""

    pass_: AgentsPass = Field(alias="pass", default_factory=AgentsPass)


class RatioRule(Rule):
    """A measured quantity of the candidate over that of the baseline; graded as a warning unless declared otherwise."""

    severity: Severity = "warning"
    grain: Literal["suite", "fixture"] = "fixture"
    """One ratio for the whole suite (and each slice), or one a fixture."""
    pass_: RatioBand = Field(alias="pass")
    warn: RatioBand | None = None

    @model_validator(mode="after")
    def _wider(self) -> Self:
        if self.warn is None:
            return self
        inner, outer = self.pass_, self.warn
        for side, sign in (("at_least", 1), ("at_most", -1)):
            near, far = getattr(inner, side), getattr(outer, side)
            if (near is None) != (far is None):
                raise ValueError(f"pass and warn must both have {side}, or neither")
            if near is not None and sign * far > sign * near:
                raise ValueError(f"warn.{side} lies inside pass; the warned band is the wider one")
        return self


class Rules(Part):
    """The rules by field; a field without a rule is not judged."""

    text: Text | None = None
    structure: Structure | None = None
    arguments: Arguments | None = None
    order: Order | None = None
    checks: Checks | None = None
    forbidden: Forbidden | None = None
    tool_set: ToolSet | None = None
    agents: Agents | None = None
    latency: RatioRule | None = None
    tokens: RatioRule | None = None
    cost: RatioRule | None = None
    steps: RatioRule | None = None

    def __getitem__(self, field: str) -> Any:
        if field not in FIELDS or getattr(self, field) is None:
            raise KeyError(field)
        return getattr(self, field)

    def __contains__(self, field: object) -> bool:
        return field in FIELDS and getattr(self, str(field)) is not None

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield each field that has a rule, with the rule."""
        return ((field, getattr(self, field)) for field in FIELDS if getattr(self, field) is not None)


class Tool(Part):
    """What is declared of a tool; what is not declared is not assumed."""

    effect: Literal["read", "write", "delete"]
    repeatable: bool = False
    """Whether it is safe to repeat (idempotent)."""
    reads: Names = ()
    """State that its answer depends on."""
    writes: Names = ()
    """State that it changes."""

    @model_validator(mode="after")
    def _reads_change_nothing(self) -> Self:
        if self.effect == "read" and self.writes:
            raise ValueError("a tool with effect read cannot list writes")
        return self


class Slice(Part):
    """Fixtures that are looked at by themselves."""

    fixtures: Names = ()
    """Names of fixtures; ``*`` stands for any characters."""
    where: dict[Name, Any] = Field(default_factory=dict)
    """Keys of a task's context and the values they must have."""

    @model_validator(mode="after")
    def _selects(self) -> Self:
        if not self.fixtures and not self.where:
            raise ValueError("a slice needs fixtures or where")
        return self


class Override(Part):
    """Rules that hold instead for one slice or one fixture."""

    slice: Name | None = None
    fixture: Name | None = None
    rules: Rules

    @property
    def scope(self) -> str:
        """``slice:NAME`` or ``fixture:NAME``."""
        return f"slice:{self.slice}" if self.slice is not None else f"fixture:{self.fixture}"

    @model_validator(mode="after")
    def _one_scope(self) -> Self:
        if (self.slice is None) == (self.fixture is None):
            raise ValueError("an override is of one slice or of one fixture: give slice or fixture")
        if not any(True for _ in self.rules.items()):
            raise ValueError("an override without rules changes nothing: give at least one")
        return self


class Grants(Part):
    """Which tools fixtures may call."""

    every_fixture: Names = ()
    fixtures: dict[Name, Names] = Field(default_factory=dict)
    """Fixture to the tools it may call besides."""
    pull_requests: Names = ()
    """Fixtures that may delete on pull requests, by name."""


class Noise(Part):
    """How much of the incumbent's own re-runs may fall outside a band before that band is unusable."""

    at_most: Score = 0.05
    confidence: Score = 0.95


class CalibrationRecord(Part):
    """Where the threshold of the text band comes from."""

    made: date
    pairs_digest: Name
    pairs: Annotated[int, Field(ge=1)]
    equivalent: Annotated[int, Field(ge=0)]
    families: Annotated[int, Field(ge=1)]
    constructed: bool
    """Whether the pairs were made (edits whose effect is known) and not collected."""
    scorer: Name
    scorer_version: Name
    cost_false_alarm: Annotated[float, Field(gt=0)]
    cost_miss: Annotated[float, Field(gt=0)]
    threshold: Score
    interval: tuple[Score, Score]
    false_alarm: Score
    """Held out: share of equivalent pairs below the threshold."""
    miss: Score
    """Held out: share of different pairs at or above the threshold."""
    separates: bool
