"""What every rule has: an id, a severity, a condition on the task's context and a sentence."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from plumbline.base.errors import PolicyError
from plumbline.rules.values import exact_number, kind_of
from plumbline.rules.words import SEVERITIES, VIOLATED

__all__ = ["Condition", "Context", "Rule", "When", "needs_text", "one_of"]


@dataclass(frozen=True)
class Context:
    """A value to be looked up in the context of each task, where a rule takes a value.

    Parameters
    ----------
    key : str
        Key of the context.

    Examples
    --------
    >>> Context("approval_threshold")
    Context(key='approval_threshold')
    """

    key: str

    def __post_init__(self) -> None:
        needs_text(self.key, "Context", "key")


@dataclass(frozen=True)
class When:
    """A condition: the context's value under `key` equals a value, in kind and value.

    Parameters
    ----------
    key : str
        Key of the context.
    equals : JSON value
        The value under which the rule applies, ``True`` by default.

    Examples
    --------
    >>> When("disposition", equals="pay").key
    'disposition'
    """

    key: str
    equals: Any = True

    def __post_init__(self) -> None:
        needs_text(self.key, "When", "key")
        object.__setattr__(self, "equals", frozen_value(self.equals, "When.equals"))


Condition = str | When | Callable[[Mapping[str, Any]], bool] | None
"""A context key whose truth is required, a ``When``, a function of the context, or None: always."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Base of all rules. A call that failed or was blocked did not happen, for every rule.

    Parameters
    ----------
    severity : {'critical', 'high', 'medium', 'low'}
    when : str, When or callable, optional
        A key of the task's context whose truth is required (text has no truth value and is refused), a ``When``, or a
        function of the context that returns a bool. Where it is false the rule is not applicable; where the context
        lacks the key the verdict is unobservable.
    id : str
        Names the rule in every table; derived from the rule if not given.
    description : str
        One sentence; derived from the rule if not given.
    """

    kind: ClassVar[str] = ""
    settled: ClassVar[int] = VIOLATED
    """The verdict that no later step can undo: it stands even if the trial did not complete."""

    severity: str = "critical"
    when: Condition = None
    id: str = ""
    description: str = ""

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools the rule speaks of."""
        raise NotImplementedError

    def _complete(self, default_id: str, sentence: str) -> None:
        name = type(self).__name__
        one_of(self.severity, SEVERITIES, name, "severity")
        for field, derived in (("id", default_id), ("description", sentence)):
            given = getattr(self, field)
            if given is None or given == "":
                object.__setattr__(self, field, derived)
            else:
                needs_text(given, name, field)
        if self.when is None or isinstance(self.when, When) or callable(self.when):
            return
        if not isinstance(self.when, str) or not self.when.strip():
            raise PolicyError(
                f"{name} {self.id!r}: when must be a context key, a When or a function of the context; "
                f"found {self.when!r}"
            )


def needs_text(value: Any, owner: str, field: str) -> None:
    """Raise unless a value is text with at least one visible character and none around it."""
    if not isinstance(value, str) or not value.strip() or value != value.strip():
        raise PolicyError(f"{owner}: {field} must be text without spaces around it; found {value!r}")


def one_of(value: Any, allowed: Sequence[str], owner: str, field: str) -> None:
    """Raise unless a value is one of the allowed words; the message proposes the nearest."""
    if not isinstance(value, str) or value not in allowed:
        near = difflib.get_close_matches(value, allowed, 1) if isinstance(value, str) else []
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise PolicyError(f"{owner}: {field} {value!r} is not known.{hint} Allowed: {', '.join(allowed)}.")


def frozen_value(value: Any, where: str) -> Any:
    """Return a JSON value with lists and sets as tuples; raise PolicyError for anything a policy cannot hold."""
    if isinstance(value, list | tuple):
        return tuple(frozen_value(member, where) for member in value)
    if isinstance(value, set | frozenset):
        return tuple(sorted((frozen_value(member, where) for member in value), key=lambda v: (kind_of(v), str(v))))
    if isinstance(value, Mapping):
        for key in value:
            needs_text(key, where, "key")
        return {key: frozen_value(member, where) for key, member in value.items()}
    if kind_of(value) not in ("null", "boolean", "number", "text"):
        raise PolicyError(f"{where}: {value!r} is a {type(value).__name__}; a rule compares with JSON values")
    number = exact_number(value)
    if number is not None and not number.is_finite():
        raise PolicyError(f"{where}: {value!r} is not a number to compare with; give a finite one")
    return value
