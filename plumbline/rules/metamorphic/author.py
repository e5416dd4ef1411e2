"""Relations written as YAML by the people who answer for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plumbline.base.canonical import parse_json
from plumbline.base.errors import NotFoundError, PolicyError, RelationError
from plumbline.rules.metamorphic.case import Case, resolve
from plumbline.rules.metamorphic.expects import Expect
from plumbline.rules.metamorphic.relation import Fact, PairTest, Precondition, Relation
from plumbline.rules.metamorphic.transformations import (
    Transformation,
    add_row,
    drop_rows,
    rename,
    reorder,
    reword,
    scale,
    set_value,
    together,
)
from plumbline.rules.policy_file import line_of, yaml_with_lines

__all__ = ["read_relations", "relation_from"]

_MAKERS: Mapping[str, Callable[..., Transformation]] = {
    "add_row": add_row, "drop_rows": drop_rows, "rename": rename, "reorder": reorder, "reword": reword, "scale": scale,
    "set_value": set_value,
}  # fmt: skip
_PLAIN = (
    "relation_id", "version", "kind", "title", "expectation", "risk_owner", "severity", "role", "tolerance", "status",
    "status_reason", "debatable", "signed_by", "graded",
)  # fmt: skip
_NEEDED = (*_PLAIN[:6], "transformation", "changed_fields")
_FIELDS = (*_PLAIN, "transformation", "changed_fields", "expects", "preconditions", "preserved_facts", "invalidations")


def read_relations(
    path: str | Path, *, transformations: Mapping[str, Transformation] | None = None,
    tests: Mapping[str, PairTest] | None = None,
) -> tuple[Relation, ...]:  # fmt: skip
    """Read relations from a file.

    Parameters
    ----------
    path : path
        A ``.yaml``, ``.yml`` or ``.json`` file with a list ``relations``; each entry as ``relation_from`` takes it.
    transformations : mapping, optional
        Own transformations by the name that ``{use: name}`` gives them.
    tests : mapping, optional
        Own invalidation tests by name.

    Raises
    ------
    NotFoundError
        There is no such file.
    RelationError
        It cannot be read as relations; the message names the file and, for YAML, the line.

    Examples
    --------
    >>> import tempfile
    >>> text = '''relations: [{relation_id: loud, version: "1", kind: invariance, title: Shouting,
    ...   expectation: the same calls, risk_owner: controller, changed_fields: [prompt],
    ...   transformation: {make: reword, template: "PAY {id}!"},
    ...   expects: [{measure: {of: path, take: list}, must: equal}]}]'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "r.yaml"); _ = path.write_text(text); print(read_relations(path)[0].name)
    loud@1
    """
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no relations file {path}")
    text = path.read_text(encoding="utf-8")
    try:
        values, lines = (parse_json(text), {}) if path.suffix == ".json" else yaml_with_lines(text, path)
    except PolicyError as error:
        raise RelationError(str(error)) from None
    except ValueError as error:
        raise RelationError(f"{path}: not JSON: {error}") from None
    if not isinstance(values, Mapping) or set(values) != {"relations"} or not isinstance(values["relations"], list):
        raise RelationError(f"{path}: a relations file holds one list, relations:")
    found = []
    for n, entry in enumerate(values["relations"]):
        where = f"{path}, line {line_of(lines, ('relations', n))}" if lines else f"{path}, relation {n + 1}"
        try:
            found.append(relation_from(entry, transformations=transformations, tests=tests))
        except RelationError as error:
            raise RelationError(f"{where}: {error}") from None
    return tuple(found)


def relation_from(
    values: Any, *, transformations: Mapping[str, Transformation] | None = None,
    tests: Mapping[str, PairTest] | None = None,
) -> Relation:  # fmt: skip
    """Make a relation from plain values.

    Parameters
    ----------
    values : mapping
        The plain fields of ``Relation``; ``transformation`` as ``{make: drop_rows, table: ..., where: {...}}``,
        ``{use: name}`` or a list of these; ``preconditions`` as ``{fact: $due, is: true}``; ``preserved_facts`` as
        ``{table: ..., column: ..., where: {...}}`` or ``{prompt_holds: $name}``; ``expects`` as ``Expect.from_dict``;
        ``invalidations`` as names of ``tests``.

    Raises
    ------
    RelationError
        A field is unknown, missing, or not what it should be.
    """
    if not isinstance(values, Mapping):
        raise RelationError(f"a relation is a mapping; found {values!r}")
    if odd := sorted(set(values) - set(_FIELDS)):
        raise RelationError(f"a relation does not know {odd}; it knows {', '.join(_FIELDS)}")
    if lost := [name for name in _NEEDED if name not in values]:
        raise RelationError(f"relation {values.get('relation_id', '?')!r} lacks {lost}")
    known = tests or {}
    named = values.get("invalidations") or []
    if lost := [name for name in named if name not in known]:
        raise RelationError(f"no invalidation test {lost}; there are {', '.join(known) or 'none'}")
    plain = {name: values[name] for name in _PLAIN if name in values}
    if not isinstance(plain["version"], str):
        raise RelationError(f"relation {values['relation_id']!r}: write the version as text, in quotes")
    return Relation(
        **plain,
        transformation=_transformation(values["transformation"], values["relation_id"], transformations or {}),
        changed_fields=tuple(values["changed_fields"]),
        expects=tuple(Expect.from_dict(each) for each in values.get("expects") or []),
        preconditions=tuple(_precondition(each) for each in values.get("preconditions") or []),
        preserved_facts=tuple(_fact(each) for each in values.get("preserved_facts") or []),
        invalidations=tuple(known[name] for name in named),
    )


def _transformation(given: Any, name: str, own: Mapping[str, Transformation]) -> Transformation:
    if isinstance(given, list):
        return together(*(_transformation(each, name, own) for each in given), name=name)
    if isinstance(given, Mapping) and set(given) == {"use"}:
        if given["use"] not in own:
            raise RelationError(f"no transformation {given['use']!r}; there are {', '.join(own) or 'none'}")
        return own[given["use"]]
    if not isinstance(given, Mapping) or given.get("make") not in _MAKERS:
        raise RelationError(f"a transformation makes one of {', '.join(_MAKERS)} or uses one by name; found {given!r}")
    try:
        return _MAKERS[given["make"]](**{k: v for k, v in given.items() if k != "make"})
    except TypeError as error:
        raise RelationError(f"transformation {given['make']!r}: {error}") from None


def _precondition(given: Any) -> Precondition:
    if not isinstance(given, Mapping) or set(given) != {"fact", "is"}:
        raise RelationError(f"a precondition is {{fact: $name, is: value}}; found {given!r}")
    name, value = str(given["fact"]), given["is"]
    return Precondition(f"{name} is {value!r}", lambda case: bool(resolve(name, case.facts) == value))


def _fact(given: Any) -> Fact:
    if isinstance(given, Mapping) and set(given) == {"prompt_holds"}:
        name = str(given["prompt_holds"])
        return Fact(f"{name} in the request", lambda case: str(resolve(name, case.facts)) in (case.prompt or ""))
    if not isinstance(given, Mapping) or set(given) != {"table", "column", "where"}:
        raise RelationError(f"a fact is {{table, column, where}} or {{prompt_holds}}; found {given!r}")

    def read(case: Case) -> Any:
        where = resolve(given["where"], case.facts)
        rows = case.tables.get(given["table"], ())
        return [row[given["column"]] for row in rows if all(row.get(k) == v for k, v in where.items())]

    return Fact(f"{given['table']}.{given['column']}", read)
