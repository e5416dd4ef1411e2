"""A metamorphic relation: how behaviour must stay or move when an input changes in a controlled way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import NotFoundError, RelationError
from plumbline.rules.fingerprint import callable_digest
from plumbline.rules.metamorphic.case import Case
from plumbline.rules.metamorphic.expects import Expect, Found
from plumbline.rules.metamorphic.frames import KINDS, ROLES
from plumbline.rules.metamorphic.measures import Behaviour
from plumbline.rules.metamorphic.transformations import Transformation
from plumbline.rules.words import SEVERITIES

__all__ = ["STATUSES", "Fact", "PairTest", "Precondition", "Relation", "relation_named"]

STATUSES = ("draft", "validated", "retired")


@dataclass(frozen=True)
class Precondition:
    """What must be true of a seed before the relation applies to it; ``test(case)`` says whether it is."""

    words: str
    test: Callable[[Case], bool] = field(repr=False)


@dataclass(frozen=True)
class Fact:
    """A fact that the transformation must leave as it is; ``read(case)`` gives it."""

    name: str
    read: Callable[[Case], Any] = field(repr=False)


@dataclass(frozen=True)
class PairTest:
    """What makes a transformation invalid: ``test(base, follow)`` gives the reason, empty if there is none.

    A reason that begins with ``?`` says that nobody can tell: the pair is abstained from.
    """

    words: str
    test: Callable[[Case, Case], str] = field(repr=False)


@dataclass(frozen=True)
class Relation:
    """One entry of a catalog of relations.

    Parameters
    ----------
    relation_id, version : str
        Its name; the version moves when anything that decides moves.
    kind : str
        ``invariance``, ``equivariance``, ``monotonic``, ``removal`` or ``own``.
    title : str
        One line.
    transformation : Transformation
        How the follow-up is made.
    changed_fields : tuple of str
        Every field the transformation changes, see ``Change``; ``invoices.*`` is any column, ``payments.amount?`` may
        change. A change elsewhere, or none where one is promised, makes the pair invalid.
    expects : tuple of Expect
        The deterministic oracle; all must hold.
    expectation : str
        The same in words, as a risk owner would sign it.
    severity, role : str
        How bad a violation is, and what a gate does with it: ``advisory``, ``aggregate``, ``veto``.
    risk_owner : str
        Who answers for the expectation.
    preconditions, preserved_facts, invalidations : tuple
        When it applies; what must not move; what makes a follow-up invalid.
    tolerance : str
        In words or numbers, for the contract; each expectation has its own.
    status, status_reason : str
        ``draft``, ``validated`` or ``retired`` with its reason.
    debatable : bool
        Whether the expected effect is open to debate; then it needs ``signed_by``.
    oracle : callable, optional
        ``oracle(base, follow, parameters)`` gives a ``Found``, for what no ``Expect`` can say; needed for ``own``.
    graded : mapping, optional
        What a grader must judge besides: the rubric's words. Empty: nothing.
    """

    relation_id: str
    version: str
    kind: str
    title: str
    transformation: Transformation = field(kw_only=True)
    changed_fields: tuple[str, ...] = field(kw_only=True)
    expectation: str = field(kw_only=True)
    risk_owner: str = field(kw_only=True)
    expects: tuple[Expect, ...] = field(default=(), kw_only=True)
    severity: str = field(default="high", kw_only=True)
    role: str = field(default="advisory", kw_only=True)
    preconditions: tuple[Precondition, ...] = field(default=(), kw_only=True)
    preserved_facts: tuple[Fact, ...] = field(default=(), kw_only=True)
    invalidations: tuple[PairTest, ...] = field(default=(), kw_only=True)
    tolerance: str = field(default="exact", kw_only=True)
    status: str = field(default="draft", kw_only=True)
    status_reason: str = field(default="", kw_only=True)
    debatable: bool = field(default=False, kw_only=True)
    signed_by: str = field(default="", kw_only=True)
    oracle: Callable[[Behaviour, Behaviour, Mapping[str, Any]], Found] | None = field(default=None, kw_only=True)
    graded: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        name = self.relation_id
        if not name or "/" in name or "@" in name or name == "baseline" or name == "baseline_again":
            raise RelationError(f"a relation's id is a name without '/' and '@'; found {name!r}")
        allowed = {"kind": KINDS, "severity": SEVERITIES, "role": ROLES, "status": STATUSES}
        for part, words in allowed.items():
            if getattr(self, part) not in words:
                raise RelationError(
                    f"relation {name!r}: {part} is one of {', '.join(words)}; found {getattr(self, part)!r}"
                )
        for part in ("version", "title", "expectation", "risk_owner"):
            if not isinstance(getattr(self, part), str) or not getattr(self, part):
                raise RelationError(f"relation {name!r} needs {part}, as text")
        if not isinstance(self.debatable, bool):
            raise RelationError(f"relation {name!r}: debatable is true or false; found {self.debatable!r}")
        if not self.changed_fields:
            raise RelationError(f"relation {name!r} must say what its transformation changes: changed_fields=")
        if not self.expects and self.oracle is None and not self.graded:
            raise RelationError(f"relation {name!r} has no oracle: give expects=, oracle= or graded=")
        if self.kind == "own" and self.oracle is None and not self.graded:
            raise RelationError(f"relation {name!r} is of a kind of its own and needs oracle= or graded=")
        if self.status == "retired" and not self.status_reason:
            raise RelationError(f"relation {name!r} is retired; status_reason= must say why")

    @property
    def name(self) -> str:
        """``id@version``."""
        return f"{self.relation_id}@{self.version}"

    def trouble(self) -> str:
        """Say why a gate must refuse the relation; empty if it may be used.

        Examples
        --------
        >>> louder = Transformation("louder", "1", lambda case: case.changed(prompt=case.prompt.upper()))
        >>> open_ = Relation("loud", "1", "invariance", "Shouting changes nothing", transformation=louder,
        ...     changed_fields=("prompt",), expects=(Expect({"of": "path", "take": "list"}, "equal"),),
        ...     expectation="Same calls.", risk_owner="controller", status="validated", debatable=True)
        >>> open_.trouble().partition(";")[0]
        "relation 'loud@1' is debatable and nobody has signed it"
        """
        if self.debatable and not self.signed_by:
            return (
                f"relation {self.name!r} is debatable and nobody has signed it; give signed_by= once its risk owner "
                f"({self.risk_owner}) agrees"
            )
        if self.status == "retired":
            return f"relation {self.name!r} is retired: {self.status_reason}"
        if self.status == "draft":
            return f"relation {self.name!r} is a draft; validate its transformations, then set status='validated'"
        return ""

    def usable(self) -> Relation:
        """Return the relation if a gate may use it.

        Raises
        ------
        RelationError
            It is debatable and unsigned, a draft, or retired; the message names it.
        """
        if trouble := self.trouble():
            raise RelationError(trouble)
        return self

    def applies(self, case: Case) -> str:
        """Return the first precondition that a case does not meet, empty if it meets all."""
        return next((each.words for each in self.preconditions if not each.test(case)), "")

    def to_dict(self) -> dict[str, Any]:
        """Return everything that decides, as JSON values; code is named by its digest."""
        return {
            "relation_id": self.relation_id, "version": self.version, "kind": self.kind, "title": self.title,
            "severity": self.severity, "role": self.role, "risk_owner": self.risk_owner, "status": self.status,
            "status_reason": self.status_reason, "debatable": self.debatable, "signed_by": self.signed_by,
            "preconditions": [p.words for p in self.preconditions], "changed_fields": list(self.changed_fields),
            "preserved_facts": [f.name for f in self.preserved_facts],
            "invalidations": [t.words for t in self.invalidations],
            "expectation": self.expectation, "expects": [e.to_dict() for e in self.expects],
            "tolerance": self.tolerance, "transformation": self.transformation.to_dict(),
            "oracle": None if self.oracle is None else callable_digest(self.oracle), "graded": dict(self.graded),
        }  # fmt: skip

    @property
    def digest(self) -> str:
        """SHA-256 of ``to_dict``."""
        return f"sha256:{hashlib.sha256(canonical_json(self.to_dict()).encode()).hexdigest()}"


def judge_all(expects: Sequence[Expect], base: Behaviour, follow: Behaviour, *, noise: bool = False) -> Found:
    """Judge every expectation; the first violated one is the answer, else the first abstention."""
    if not expects:
        return Found("abstained", "no deterministic expectation; a grader must judge this pair")
    found = [(each.as_noise() if noise else each).judge(base, follow) for each in expects]
    for result in ("violated", "abstained"):
        for one in found:
            if one.result == result:
                return one
    return found[0]


def relation_named(relations: Iterable[Relation], name: str) -> Relation:
    """Return a relation of a catalog by its id, or by ``id@version``.

    Raises
    ------
    NotFoundError
        There is none, or another version only.
    """
    known = {key: each for each in relations for key in (each.relation_id, each.name)}
    if name not in known:
        raise NotFoundError(f"no relation {name!r}; there are {', '.join(k for k in known if '@' in k) or 'none'}")
    return known[name]
