"""The catalog of perturbations of wording and of sampling; those of tools stand in ``perturb_tools``.

Each entry is an invariance: an agent should do the same. What an entry draws from (templates, remarks) is given by a
domain, because only it knows its subject.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from plumbline.base.errors import ParameterError
from plumbline.rules.asking import Writer, WriteRequest
from plumbline.rules.draws import Draw, nth_arrangement, nth_subset
from plumbline.rules.layouts import Layout, find_blocks
from plumbline.rules.perturb import Perturbation
from plumbline.rules.spellings import AMOUNT_STYLES, DATE_STYLES, UNIT_STYLES, respellings
from plumbline.rules.task_view import TaskView
from plumbline.rules.variants import Variant, checked_sampling

__all__ = ["baseline", "distractor", "field_order", "formats", "paraphrase", "sampling", "written_paraphrase"]

OWNER = "plumbline"
_LAYOUTS = (
    Layout(order="sorted"), Layout(order="reversed"), Layout(indent=2), Layout(spaced=False),
    Layout(order="reversed", indent=2), Layout(order="sorted", indent=4), Layout(order="sorted", spaced=False),
    Layout(order="reversed", spaced=False),
)  # fmt: skip


def has_prompt(task: TaskView) -> str | None:
    """Precondition: the wording is on record."""
    return None if task.prompt else "its wording is not on record"


def baseline() -> Perturbation:
    """Leave the task as it is: the same request, again and again.

    Returns
    -------
    Perturbation
        It has one output, so variants beyond the first are repeats and are said to be.

    Examples
    --------
    >>> baseline().apply(TaskView(id="T", prompt="Cancel A-17."), seed=7).prompt
    'Cancel A-17.'
    """
    return Perturbation(
        name="baseline", function=lambda task, base, draw: {}, may_change=(), size=1, risk_owner=OWNER,
        description="the task unchanged",
    )  # fmt: skip


def paraphrase(templates: Sequence[str], *, version: str = "1", risk_owner: str = OWNER) -> Perturbation:
    """Word the request anew from templates, without a model.

    Parameters
    ----------
    templates : sequence of str
        Wordings with the task's slots in braces, each once: ``"Could you cancel {order}?"``.
    version : str
        Raised whenever the templates change.
    risk_owner : str
        Who answers for the templates.

    Returns
    -------
    Perturbation

    Raises
    ------
    ParameterError
        No template, one that stands twice, or one without a slot, which would lose the facts.

    Examples
    --------
    >>> task = TaskView(id="T", prompt="Cancel A-17.", slots={"order": "A-17"})
    >>> paraphrase(["Could you cancel {order}?"]).apply(task, seed=7).prompt
    'Could you cancel A-17?'
    """
    named = {
        template: {name for _, name, _, _ in string.Formatter().parse(template) if name}
        for template in _texts(templates)
    }
    if bare := [template for template, slots in named.items() if not slots]:
        raise ParameterError(
            f"templates need slots for the facts they keep, as in 'Cancel {{order}}.'; found {bare[0]!r}"
        )
    needed = sorted(set().union(*named.values()))

    def slots_known(task: TaskView) -> str | None:
        lost = [name for name in needed if name not in task.slots]
        return f"templates name slots {lost} that the task does not give" if lost else None

    def reword(task: TaskView, base: Variant, draw: Draw) -> str:
        return tuple(named)[draw.choice].format_map(dict(task.slots))

    return Perturbation(
        name="paraphrase", version=version, function=reword, requires=(has_prompt, slots_known), size=len(named),
        risk_owner=risk_owner, material={"templates": list(named)}, description="the same request in other words",
    )  # fmt: skip


def written_paraphrase(writer: Writer, *, version: str = "1", risk_owner: str = OWNER) -> Perturbation:
    """Word the request anew by asking a model; every rewording goes through the guard.

    Parameters
    ----------
    writer : Writer
        Asked once for each candidate, with its number.
    version, risk_owner : str
        As for the others.

    Returns
    -------
    Perturbation
        How many rewordings there are is not known: one that was given before counts as rejected, not as a repeat.
    """

    def reword(task: TaskView, base: Variant, draw: Draw) -> str:
        made = writer(WriteRequest(base.prompt or "", task.facts, draw.candidate))
        return made.strip()

    return Perturbation(
        name="written_paraphrase", version=version, function=reword, requires=(has_prompt,), calls=1,
        writer=writer.name, risk_owner=risk_owner, material={"request": WriteRequest("").text},
        description="the same request in a model's words",
    )  # fmt: skip


def distractor(remarks: Sequence[str], *, version: str = "1", risk_owner: str = OWNER) -> Perturbation:
    """Put two remarks that are beside the point around the request, which stays word for word.

    Parameters
    ----------
    remarks : sequence of str
        At least two sentences that neither touch the task nor tell anybody what to do; the guard checks each against
        each task.
    version, risk_owner : str
        As for the others.

    Returns
    -------
    Perturbation
        One remark before and one after, or both before: 2 n (n - 1) outputs of n remarks.

    Raises
    ------
    ParameterError
        Fewer than two remarks, or one that stands twice.
    """
    given = _texts(remarks)
    if len(given) < 2:
        raise ParameterError(f"a distractor takes two remarks, so at least two must be given; found {len(given)}")
    pairs = len(given) * (len(given) - 1) // 2

    def surround(task: TaskView, base: Variant, draw: Draw) -> str:
        rest, number = divmod(draw.choice, pairs)
        first, second = nth_arrangement(nth_subset(given, 2, number), rest % 2)
        return f"{first} {base.prompt} {second}" if rest < 2 else f"{first} {second} {base.prompt}"

    return Perturbation(
        name="distractor", version=version, function=surround, may_change=("remarks",), requires=(has_prompt,),
        size=4 * pairs, risk_owner=risk_owner, material={"remarks": list(given)},
        description="remarks beside the point around the request",
    )  # fmt: skip


def formats(
    *,
    amounts: Sequence[str] = AMOUNT_STYLES,
    dates: Sequence[str] = DATE_STYLES,
    units: Sequence[str] = UNIT_STYLES,
    risk_owner: str = OWNER,
) -> Perturbation:
    """Spell the amounts, dates and quantities of the request in another way, converted exactly.

    Parameters
    ----------
    amounts, dates, units : sequence of str
        Styles; see :func:`plumbline.rules.respell`.
    risk_owner : str
        As for the others.

    Returns
    -------
    Perturbation
        It does not apply to a task without an amount, a full date or a quantity.

    Examples
    --------
    >>> formats(dates=["iso"]).apply(TaskView(id="T", prompt="Due 3 July 2026."), seed=7).prompt
    'Due 2026-07-03.'
    """

    def spellings(task: TaskView, prompt: str | None) -> tuple[str, ...]:
        return respellings(prompt or "", facts=task.facts, amounts=amounts, dates=dates, units=units)

    def something_to_spell(task: TaskView) -> str | None:
        return None if spellings(task, task.prompt) else "its wording holds nothing with another unambiguous spelling"

    return Perturbation(
        name="formats", function=lambda task, base, draw: spellings(task, base.prompt)[draw.choice],
        may_change=("formats",), requires=(has_prompt, something_to_spell),
        size=lambda task, base: len(spellings(task, base.prompt)) or None, risk_owner=risk_owner,
        material={"amounts": list(amounts), "dates": list(dates), "units": list(units)},
        description="amounts, dates and quantities spelled in another way",
    )  # fmt: skip


def field_order(layouts: Sequence[Layout] = _LAYOUTS, *, risk_owner: str = OWNER) -> Perturbation:
    """Write structured data with its fields in another order and other white space: in the request and in tool results.

    Parameters
    ----------
    layouts : sequence of Layout
        What is drawn from.
    risk_owner : str
        As for the others.

    Returns
    -------
    Perturbation

    Examples
    --------
    >>> task = TaskView(id="T", prompt='Pay {"no": "A-1", "sum": 4.50}')
    >>> field_order([Layout(order="reversed")]).apply(task, seed=7).prompt
    'Pay {"sum": 4.50, "no": "A-1"}'
    """
    if not layouts or len(set(layouts)) != len(layouts) or Layout() in layouts:
        raise ParameterError(
            f"layouts must be different from one another and from the plain one; found {list(layouts)}"
        )

    def rewrite(task: TaskView, base: Variant, draw: Draw) -> Mapping[str, Any]:
        layout, prompt = layouts[draw.choice], base.prompt
        for block in reversed(find_blocks(prompt or "")):
            prompt = (prompt or "")[: block.start] + layout.write(block.value) + (prompt or "")[block.end :]
        return {"prompt": prompt, "layout": layout}

    def structured(task: TaskView) -> str | None:
        there = task.tools or find_blocks(task.prompt or "")
        return None if there else "it has neither structured data in its wording nor tools that return any"

    return Perturbation(
        name="field_order", function=rewrite, may_change=("layout",), requires=(structured,), size=len(layouts),
        risk_owner=risk_owner, material={"layouts": [layout.to_dict() for layout in layouts]},
        description="fields and white space of structured data in another order",
    )  # fmt: skip


def sampling(
    settings: Sequence[Mapping[str, Any]], *, default: Mapping[str, Any], risk_owner: str = OWNER
) -> Perturbation:
    """Send explicit sampling settings that differ from what the provider does when none are sent.

    Parameters
    ----------
    settings : sequence of mapping
        Such as ``[{"temperature": 0.3}, {"temperature": 0.7}]``.
    default : mapping
        What the provider samples with if nothing is sent, for every setting that is used.
    risk_owner : str
        As for the others.

    Returns
    -------
    Perturbation

    Raises
    ------
    ParameterError
        A setting that equals the default, which would be the baseline under another name; or no default stated for it.

    Examples
    --------
    >>> cooler = sampling([{"temperature": 0.3}], default={"temperature": 1.0})
    >>> cooler.apply(TaskView(id="T", prompt="Cancel A-17."), seed=7).sampling
    {'temperature': 0.3}
    """
    plain, given = checked_sampling(default), [checked_sampling(each) for each in settings]
    if not given or any(given.count(each) > 1 for each in given):
        raise ParameterError(f"sampling takes at least one setting, each once; found {list(settings)}")
    for each in given:
        if unknown := sorted(set(each) - set(plain)):
            raise ParameterError(
                f"state the provider's default of {unknown} in default=, so that a difference can be shown"
            )
        if plain | each == plain:
            raise ParameterError(
                f"{each} is the provider's default {plain}: such a variant is the baseline under another name. "
                "Give settings that differ."
            )
    return Perturbation(
        name="sampling", function=lambda task, base, draw: {"sampling": given[draw.choice]}, may_change=("sampling",),
        size=len(given), risk_owner=risk_owner, default_sampling=plain, material={"settings": given, "default": plain},
        description="explicit sampling settings",
    )  # fmt: skip


def _texts(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not given or len(set(given)) != len(given) or not all(map(str.strip, given)):
        raise ParameterError(f"give at least one text, each once and none empty; found {given!r}")
    return tuple(given)
