"""Metamorphic conformance testing of LLM agents.

>>> import plumbline as plumb
>>> sorted(plumb.MustCall("check_duplicate").to_dict())[:2]
['description', 'id']

Every public name is loaded when it is first used, so that importing plumbline stays quick. The accessors
``steps.trace`` and ``steps.args`` are there whenever pandas is.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from plumbline._hook import when_imported
from plumbline._version import __version__

if TYPE_CHECKING:
    from types import ModuleType

_HOMES = {
    "AlternatePrecedence": "plumbline.rules",
    "AlternateResponse": "plumbline.rules",
    "ArgEquals": "plumbline.rules",
    "ArgFromEarlier": "plumbline.rules",
    "ArgFromResult": "plumbline.rules",
    "ArgSatisfies": "plumbline.rules",
    "CallAtMost": "plumbline.rules",
    "CallBudget": "plumbline.rules",
    "CannotTellError": "plumbline.base.errors",
    "ChainPrecedence": "plumbline.rules",
    "ChainResponse": "plumbline.rules",
    "Context": "plumbline.rules",
    "Custom": "plumbline.rules",
    "Domain": "plumbline.domain",
    "Expect": "plumbline.rules.metamorphic",
    "Fault": "plumbline.running",
    "GatePlan": "plumbline.decide",
    "InputError": "plumbline.base.errors",
    "MessageBefore": "plumbline.rules",
    "MustCall": "plumbline.rules",
    "MustNotCall": "plumbline.rules",
    "NotCoExistence": "plumbline.rules",
    "NotSuccession": "plumbline.rules",
    "OneCallATurn": "plumbline.rules",
    "Ordering": "plumbline.rules",
    "PinError": "plumbline.base.errors",
    "Plan": "plumbline.traces",
    "PlumblineError": "plumbline.base.errors",
    "Policy": "plumbline.rules",
    "Precedence": "plumbline.rules",
    "Relation": "plumbline.rules.metamorphic",
    "RespondedExistence": "plumbline.rules",
    "Response": "plumbline.rules",
    "Run": "plumbline.run",
    "Seed": "plumbline.rules.metamorphic",
    "SumAtMost": "plumbline.rules",
    "Tool": "plumbline.running",
    "Toolbox": "plumbline.running",
    "When": "plumbline.rules",
    "Where": "plumbline.rules",
    "certify": "plumbline.decide",
    "check": "plumbline.rules",
    "concat_runs": "plumbline.run",
    "declare": "plumbline.rules",
    "diff": "plumbline.show.diff",
    "gate": "plumbline.decide",
    "judge_pairs": "plumbline.running",
    "ladder": "plumbline.decide",
    "load_domain": "plumbline.domain",
    "load_study": "plumbline.study",
    "paired_outcomes": "plumbline.analysis",
    "plan": "plumbline.stats:plan_runs",
    "plan_pairs": "plumbline.running",
    "read_certificate": "plumbline.decide",
    "read_gate_plan": "plumbline.decide",
    "read_policy": "plumbline.rules",
    "read_relations": "plumbline.rules.metamorphic",
    "read_run": "plumbline.run",
    "read_traces": "plumbline.run",
    "run_pairs": "plumbline.run",
    "run_plan": "plumbline.run",
    "run_study": "plumbline.run",
    "seeds": "plumbline.rules.metamorphic",
    "verify": "plumbline.decide",
    "wilson": "plumbline.stats",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'plumbline' has no attribute {name!r}; its names are {', '.join(sorted(_HOMES))}")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(importlib.import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def _register(_: ModuleType) -> None:
    importlib.import_module("plumbline.accessors").register()


when_imported("pandas", _register)
