"""The contract of one pair: what was changed, what was preserved, what is expected, as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any

from plumbline.base.canonical import canonical_json, parse_json
from plumbline.base.errors import RelationError
from plumbline.rules.fingerprint import callable_digest
from plumbline.rules.metamorphic.case import Case, Change, apply_changes, difference
from plumbline.rules.metamorphic.expects import Expect, Found
from plumbline.rules.metamorphic.measures import Behaviour
from plumbline.rules.metamorphic.relation import Relation, judge_all
from plumbline.rules.metamorphic.seed import Seed
from plumbline.rules.metamorphic.transformations import Transformed

__all__ = ["CONTRACT_SCHEMA", "Contract", "contract_schema", "make_contract"]

CONTRACT_SCHEMA = "plumbline.relation-contract/1"
VALIDITIES = ("valid", "invalid", "abstained")


@dataclass(frozen=True)
class Contract:
    """What one pair promises; everything a later judge needs, without the code that made it.

    Parameters
    ----------
    pair_id : str
        ``relation@version:seed``.
    relation_id, relation_version, relation_digest, kind, severity, role : str
        The relation as it stood.
    seed : mapping
        The seed, see ``Seed``; ``seed_id``, ``family_id`` and ``task_id`` are repeated on top.
    transformation : mapping
        Name, version and digest of its code.
    changed_fields, changes
        What may change, and every single change.
    preserved_facts : tuple of mapping
        Name and value of each fact that stayed.
    expectation, expects, parameters, tolerance, oracle
        The expected relation in words and for the deterministic layer; ``oracle`` is the digest of own code or null.
    validity, reasons
        ``valid``, ``invalid`` or ``abstained`` (nobody can tell), and why. Only a valid pair is run.
    base_digest, follow_digest : str
        Of the two inputs.
    """

    pair_id: str
    relation_id: str
    relation_version: str
    relation_digest: str
    kind: str
    severity: str
    role: str
    seed_id: str
    family_id: str
    task_id: str
    seed: Mapping[str, Any]
    transformation: Mapping[str, str]
    changed_fields: tuple[str, ...]
    changes: tuple[Mapping[str, Any], ...]
    preserved_facts: tuple[Mapping[str, Any], ...]
    expectation: str
    expects: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, Any]
    tolerance: str
    oracle: str | None
    graded: Mapping[str, Any]
    validity: str
    reasons: tuple[str, ...]
    base_digest: str
    follow_digest: str
    schema: str = field(default=CONTRACT_SCHEMA)

    @property
    def valid(self) -> bool:
        """Whether the transformation passed every check, so that the pair may be run."""
        return self.validity == "valid"

    def follow_up(self, base: Case) -> Case:
        """Make the follow-up again from the stored changes.

        Raises
        ------
        RelationError
            ``base`` is not the case of this contract, or the changes do not give what they gave.
        """
        if base.digest != self.base_digest:
            raise RelationError(
                f"pair {self.pair_id}: the base case has digest {base.digest}, sealed is {self.base_digest}"
            )
        made = apply_changes(base, [Change.from_dict(change) for change in self.changes])
        if made.digest != self.follow_digest:
            raise RelationError(
                f"pair {self.pair_id}: the follow-up has digest {made.digest}, sealed is {self.follow_digest}"
            )
        return made

    def judge(
        self, base: Behaviour, follow: Behaviour, *, relation: Relation | None = None, noise: bool = False
    ) -> Found:
        """Judge two trials by the deterministic layer.

        Parameters
        ----------
        base, follow : Behaviour
            What the two trials did.
        relation : Relation, optional
            Needed only where the oracle is code of the relation's own; its digest must be the one in the contract.
        noise : bool
            Both are trials of the base: expect the same, or still one way only.

        Raises
        ------
        RelationError
            The oracle is own code and ``relation`` is not given, or is not the one that was sealed.
        """
        if self.oracle is not None and not noise:
            own = None if relation is None else relation.oracle
            if own is None or callable_digest(own) != self.oracle:
                raise RelationError(
                    f"pair {self.pair_id} is judged by code with digest {self.oracle}; give its relation"
                )
            return own(base, follow, self.parameters)
        return judge_all([Expect.from_dict(each) for each in self.expects], base, follow, noise=noise)

    def to_dict(self) -> dict[str, Any]:
        """Return the contract as JSON values; they satisfy ``contract_schema()``."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Contract:
        """Read a contract, checked against its JSON Schema.

        Raises
        ------
        RelationError
            It does not satisfy the schema; the message says where.
        """
        if problems := list(_problems(values)):
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise RelationError(f"contract {values.get('pair_id', '?')!r}: {problems[0]}{more}")
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**given)


@lru_cache(maxsize=1)
def contract_schema() -> Mapping[str, Any]:
    """Return the JSON Schema (2020-12) that every contract satisfies.

    Examples
    --------
    >>> contract_schema()["title"]
    'Contract of a metamorphic pair'
    """
    found: Mapping[str, Any] = parse_json((files(__package__) / "contract.schema.json").read_text(encoding="utf-8"))
    return found


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(contract_schema())


def _problems(values: Mapping[str, Any]) -> Iterator[str]:
    for error in sorted(_validator().iter_errors(_plain(values)), key=lambda e: list(map(str, e.path))):
        yield f"{'.'.join(map(str, error.path)) or 'document'}: {error.message}"


def _plain(value: Any) -> Any:
    """Tuples are arrays to a schema."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def make_contract(relation: Relation, base: Case, *, seed: Seed | None = None) -> Contract:
    """Transform a seed, validate what came out before any model sees it, and write the contract.

    Parameters
    ----------
    relation : Relation
        Its preconditions must hold of the case.
    base : Case
        The seed's case.
    seed : Seed, optional
        Where it comes from; by default designed and made up, named like its task.

    Returns
    -------
    Contract
        ``validity`` is ``invalid`` with reasons where the transformation failed or a check objects, ``abstained``
        where a check cannot tell.

    Raises
    ------
    RelationError
        The relation does not apply to this case; ask ``relation.applies(case)`` first.
    """
    if unmet := relation.applies(base):
        raise RelationError(f"relation {relation.name!r} does not apply to {base.task_id!r}: {unmet}")
    seed = seed or Seed(base.task_id, base.task_id, base.family_id)
    reasons: list[str] = []
    unknown: list[str] = []
    try:
        made = relation.transformation(base)
        changes = difference(base, made.case)
        reasons += _reasons(relation, base, made.case, changes)
        for test in relation.invalidations:
            if said := test.test(base, made.case):
                (unknown if said.startswith("?") else reasons).append(f"{test.words}: {said.removeprefix('?').strip()}")
        parameters = {**dict(base.facts), **dict(made.parameters)}
        expects = [each.resolved(parameters).to_dict() for each in relation.expects]
    except RelationError as error:
        made, changes, expects = Transformed(base), (), []
        reasons.append(f"the transformation failed: {error}")
    validity = "invalid" if reasons else "abstained" if unknown else "valid"
    values = Contract(
        pair_id=f"{relation.name}:{seed.seed_id}", relation_id=relation.relation_id, relation_version=relation.version,
        relation_digest=relation.digest, kind=relation.kind, severity=relation.severity, role=relation.role,
        seed_id=seed.seed_id, family_id=seed.family_id, task_id=base.task_id, seed=seed.to_dict(),
        transformation=relation.transformation.to_dict(), changed_fields=relation.changed_fields,
        changes=tuple(change.to_dict() for change in changes),
        preserved_facts=tuple({"name": f.name, "value": f.read(base)} for f in relation.preserved_facts),
        expectation=relation.expectation, expects=tuple(expects), parameters=dict(made.parameters),
        tolerance=relation.tolerance, oracle=None if relation.oracle is None else callable_digest(relation.oracle),
        graded=dict(relation.graded), validity=validity, reasons=tuple(reasons or unknown),
        base_digest=base.digest, follow_digest=made.case.digest,
    ).to_dict()  # fmt: skip
    return Contract.from_dict(parse_json(canonical_json(values)))


def _reasons(relation: Relation, base: Case, follow: Case, changes: Iterable[Change]) -> Iterator[str]:
    """Nothing but the declared fields changed, each of them did, and every fact stayed."""
    met: set[str] = set()
    for change in changes:
        allowed = [each for each in relation.changed_fields if fnmatchcase(change.field, each.removesuffix("?"))]
        met.update(allowed)
        if not allowed:
            yield f"{change} is outside the declared fields {', '.join(relation.changed_fields)}"
    for pattern in relation.changed_fields:
        if pattern not in met and not pattern.endswith("?"):
            yield f"{pattern} was to change and did not"
    if follow.family_id != base.family_id:
        yield f"the follow-up has family {follow.family_id!r}, its seed {base.family_id!r}"
    for fact in relation.preserved_facts:
        before, after = canonical_json(fact.read(base)), canonical_json(fact.read(follow))
        if before != after:
            yield f"fact {fact.name!r} was to stay: {before} became {after}"
