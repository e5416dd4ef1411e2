"""The templates of DECLARE, by name, as the rules that say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plumbline.base.errors import PolicyError
from plumbline.rules.base import Rule, one_of
from plumbline.rules.coexistence import NotCoExistence, NotSuccession, RespondedExistence
from plumbline.rules.invariants import CallAtMost, MustCall, MustNotCall
from plumbline.rules.temporal import (
    AlternatePrecedence,
    AlternateResponse,
    ChainPrecedence,
    ChainResponse,
    Precedence,
    Response,
)

__all__ = ["DECLARE", "declare"]

_PAIRS: Mapping[str, Callable[[str, str], tuple[Rule, ...]]] = {
    "response": lambda a, b: (Response(a, b),),
    "precedence": lambda a, b: (Precedence(a, b),),
    "succession": lambda a, b: (Response(a, b), Precedence(a, b)),
    "alternate response": lambda a, b: (AlternateResponse(a, b),),
    "alternate precedence": lambda a, b: (AlternatePrecedence(a, b),),
    "alternate succession": lambda a, b: (AlternateResponse(a, b), AlternatePrecedence(a, b)),
    "chain response": lambda a, b: (ChainResponse(a, b),),
    "chain precedence": lambda a, b: (ChainPrecedence(a, b),),
    "chain succession": lambda a, b: (ChainResponse(a, b), ChainPrecedence(a, b)),
    "not succession": lambda a, b: (NotSuccession(a, b),),
    "responded existence": lambda a, b: (RespondedExistence(a, b),),
    "co-existence": lambda a, b: (RespondedExistence(a, b), RespondedExistence(b, a)),
    "not co-existence": lambda a, b: (NotCoExistence(a, b),),
}
_ONES: Mapping[str, Callable[[str], tuple[Rule, ...]]] = {
    "existence": lambda a: (MustCall(a),),
    "absence": lambda a: (MustNotCall(a),),
    "absence2": lambda a: (CallAtMost(a, 1),),
    "absence3": lambda a: (CallAtMost(a, 2),),
}
DECLARE = (*_ONES, *_PAIRS)
"""Names of the templates there are rules for."""


def declare(template: str, *tools: str) -> tuple[Rule, ...]:
    """Make the rules that say what a DECLARE template says.

    Parameters
    ----------
    template : str
        Name of a template, such as ``chain response``; case, and ``_`` for a space, do not matter.
    *tools : str
        One tool for ``existence`` and ``absence``, two for the others: a, then b.

    Returns
    -------
    tuple of Rule
        One rule, or two for templates that are a conjunction: succession and co-existence. The template is satisfied
        where each of them is held or vacuous.

    Raises
    ------
    PolicyError
        There is no rule for the template, or it takes another number of tools.

    Examples
    --------
    >>> [rule.id for rule in declare("succession", "check", "pay")]
    ['response:check-then-pay', 'precedence:check-before-pay']

    References
    ----------
    Pesic, Schonenberg and van der Aalst, DECLARE: full support for loosely-structured processes, EDOC 2007.
    De Giacomo and Vardi, Linear temporal logic and linear dynamic logic on finite traces, IJCAI 2013.
    """
    name = " ".join(template.replace("_", " ").lower().split()) if isinstance(template, str) else template
    name = {"coexistence": "co-existence", "not coexistence": "not co-existence", "co existence": "co-existence",
            "not co existence": "not co-existence", "not-succession": "not succession"}.get(name, name)  # fmt: skip
    one_of(name, DECLARE, "declare", "template")
    wanted = 1 if name in _ONES else 2
    if len(tools) != wanted:
        raise PolicyError(f"declare: {name} takes {wanted} tool{'s' if wanted > 1 else ''}; found {len(tools)}")
    return _ONES[name](tools[0]) if wanted == 1 else _PAIRS[name](*tools)
