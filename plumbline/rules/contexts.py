"""What the system of record says of each task, and which tasks a rule's condition selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np

from plumbline.base.canonical import canonical_json
from plumbline.base.errors import ParameterError, PolicyError
from plumbline.rules.base import Rule, When
from plumbline.rules.values import equal, kind_of

__all__ = ["APPLIES", "DOES_NOT_APPLY", "LACKS_KEY", "TaskContexts"]

DOES_NOT_APPLY, APPLIES, LACKS_KEY = range(3)

_JSON = ("null", "boolean", "number", "text", "list", "object")


class TaskContexts:
    """The context of every task of a run, by the task's code.

    Parameters
    ----------
    tasks : sequence of str
        Task ids, by code.
    contexts : mapping of str to mapping
        Context of each task; every task of the run must have one, if only an empty one.

    Raises
    ------
    ParameterError
        A task has no context, or a context holds something that is not a JSON value.
    """

    def __init__(self, tasks: Sequence[str], contexts: Mapping[str, Mapping[str, Any]]) -> None:
        if not isinstance(contexts, Mapping):
            raise ParameterError(f"contexts must map task ids to contexts; found {type(contexts).__name__}")
        if missing := [task for task in tasks if task not in contexts]:
            raise ParameterError(
                f"contexts lack {len(missing)} tasks of the run, such as {missing[0]!r}. "
                "Give every task a context; an empty one ({}) says that nothing is known of it."
            )
        self.tasks = tuple(tasks)
        self.values: tuple[Mapping[str, Any], ...] = tuple(
            MappingProxyType(_checked(task, contexts[task])) for task in tasks
        )
        self._expected: dict[str, tuple[np.ndarray, list[Any]]] = {}

    def expected(self, key: str) -> tuple[np.ndarray, list[Any]]:
        """Return, for a key, the code of each task's value and the distinct values; -1 where absent or null."""
        if key not in self._expected:
            codes = np.full(len(self.tasks), -1, np.int32)
            known: dict[Any, int] = {}
            values: list[Any] = []
            for task, context in enumerate(self.values):
                value = context.get(key)
                if value is None:
                    continue
                name = _name(value)
                if name not in known:
                    known[name] = len(values)
                    values.append(value)
                codes[task] = known[name]
            self._expected[key] = codes, values
        return self._expected[key]

    def condition(self, rule: Rule) -> np.ndarray | None:
        """Return which tasks a rule applies to, one of three codes a task; None if it applies to all of them."""
        if rule.when is None:
            return None
        return np.array([self._state(rule, task) for task in range(len(self.tasks))], np.int8)

    def _state(self, rule: Rule, task: int) -> int:
        when, context = rule.when, self.values[task]
        where = f"rule {rule.id!r}, task {self.tasks[task]!r}"
        if callable(when):
            try:
                answer = when(context)
            except Exception as error:
                raise PolicyError(f"{where}: the condition raised {type(error).__name__}: {error}") from error
            if not isinstance(answer, bool | np.bool_):
                raise PolicyError(f"{where}: the condition must return True or False; it returned {answer!r}")
            return APPLIES if answer else DOES_NOT_APPLY
        key = when.key if isinstance(when, When) else str(when)
        if key not in context:
            return LACKS_KEY
        value = context[key]
        if isinstance(when, When):
            return APPLIES if equal(value, when.equals) else DOES_NOT_APPLY
        if isinstance(value, str) or (kind_of(value) == "number" and value != value):
            raise PolicyError(
                f"{where}: when={key!r} asks for a truth value and the context holds {value!r}. "
                f"Name the value that counts: when=When({key!r}, equals=…)."
            )
        return APPLIES if value else DOES_NOT_APPLY


def _checked(task: str, context: Any) -> dict[str, Any]:
    if not isinstance(context, Mapping):
        raise ParameterError(f"the context of task {task!r} must be a mapping; found {type(context).__name__}")
    for key, value in context.items():
        if not isinstance(key, str) or (odd := _odd(value)) is not None:
            what = f"a {odd}" if isinstance(key, str) else f"the key {key!r}"
            raise ParameterError(f"the context of task {task!r} holds {what} under {key!r}; it takes JSON values")
    return dict(context)


def _odd(value: Any) -> str | None:
    kind = kind_of(value)
    if kind not in _JSON:
        return kind
    members = value.values() if kind == "object" else value if kind == "list" else ()
    return next((odd for member in members if (odd := _odd(member)) is not None), None)


def _name(value: Any) -> Any:
    """Name a value so that equal names mean equal values; what JSON cannot hold (NaN) is a value of its own."""
    if isinstance(value, str | int | float | Decimal):
        return type(value), value
    try:
        return canonical_json(value)
    except (ValueError, TypeError):
        return id(value)
