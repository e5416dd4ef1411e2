"""Metamorphic relations: a seed, a controlled change, the expected relation and its oracle."""

from plumbline.rules.metamorphic.author import read_relations, relation_from
from plumbline.rules.metamorphic.case import Case, Change, apply_changes, difference
from plumbline.rules.metamorphic.catalog import EntryCount, Validation, validate_relations
from plumbline.rules.metamorphic.contract import CONTRACT_SCHEMA, Contract, contract_schema, make_contract
from plumbline.rules.metamorphic.expects import MUSTS, Expect, Found
from plumbline.rules.metamorphic.frames import (
    COMPARISONS,
    KINDS,
    LAYERS,
    PAIR_COLUMNS,
    PAIR_SCHEMA,
    PURPOSES,
    RESULTS,
    ROLES,
    SOURCES,
    check_pairs,
    pairs_frame,
)
from plumbline.rules.metamorphic.language import language_of
from plumbline.rules.metamorphic.measures import Behaviour, Call, Measured, measure
from plumbline.rules.metamorphic.relation import STATUSES, Fact, PairTest, Precondition, Relation, relation_named
from plumbline.rules.metamorphic.seed import PRIVACY, Seed
from plumbline.rules.metamorphic.seeding import SeedSet, seeds
from plumbline.rules.metamorphic.transformations import (
    Transformation,
    Transformed,
    add_row,
    drop_rows,
    exactly,
    rename,
    reorder,
    reword,
    scale,
    set_value,
    together,
)

__all__ = [
    "COMPARISONS",
    "CONTRACT_SCHEMA",
    "KINDS",
    "LAYERS",
    "MUSTS",
    "PAIR_COLUMNS",
    "PAIR_SCHEMA",
    "PRIVACY",
    "PURPOSES",
    "RESULTS",
    "ROLES",
    "SOURCES",
    "STATUSES",
    "Behaviour",
    "Call",
    "Case",
    "Change",
    "Contract",
    "EntryCount",
    "Expect",
    "Fact",
    "Found",
    "Measured",
    "PairTest",
    "Precondition",
    "Relation",
    "Seed",
    "SeedSet",
    "Transformation",
    "Transformed",
    "Validation",
    "add_row",
    "apply_changes",
    "check_pairs",
    "contract_schema",
    "difference",
    "drop_rows",
    "exactly",
    "language_of",
    "make_contract",
    "measure",
    "pairs_frame",
    "read_relations",
    "relation_from",
    "relation_named",
    "rename",
    "reorder",
    "reword",
    "scale",
    "seeds",
    "set_value",
    "together",
    "validate_relations",
]
