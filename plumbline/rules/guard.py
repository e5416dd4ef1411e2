"""The guard: every variant is checked against what its perturbation promises before any model of the study sees it."""

from __future__ import annotations

from collections.abc import Iterator

from plumbline.base.errors import ParameterError
from plumbline.rules.asking import Judge, Opinion, read_opinion
from plumbline.rules.findings import ABSTAINED, ACCEPTED, REJECTED, Finding, GuardResult
from plumbline.rules.guard_parts import PART_CHECKS, formats_changed, layout_changed, remarks_changed
from plumbline.rules.guard_text import compare_texts
from plumbline.rules.perturb import CHANGES, Perturbation
from plumbline.rules.task_view import Facts, TaskView, stands_in
from plumbline.rules.variants import INPUT_FIELDS, Variant

__all__ = ["guard"]

_REWORDING = Perturbation(
    name="rewording", function=lambda task, base, draw: base.prompt or "", risk_owner="whoever asks the guard"
)
_PROMPT_CHECKS = {"remarks": remarks_changed, "formats": formats_changed, "layout": layout_changed}
_JUDGED = ("wording", "remarks")


def guard(
    original: Variant | str | None,
    variant: Variant | str | None,
    facts: Facts | None = None,
    *,
    task: TaskView | None = None,
    perturbation: Perturbation | None = None,
    judge: Judge | None = None,
) -> GuardResult:
    """Decide whether a variant keeps what its perturbation promises to keep.

    The deterministic checks come first and can only reject. A judge, if there is one, is asked only about wordings that
    they let pass, and may abstain; an answer that cannot be read is an abstention. Neither makes a variant valid: the
    guard's own error rates are measured in ``tests/quality/test_guard_rates.py``.

    Parameters
    ----------
    original, variant : Variant, str or None
        Before and after; texts stand for variants that change the prompt alone, None for a wording not on record.
    facts : Facts, optional
        What must be kept beyond what can be read from the original; the task's by default.
    task : TaskView, optional
        The task; needed for remarks and for anything but the prompt.
    perturbation : Perturbation, optional
        What may change and what must not; by default a rewording. The stages of a composition are guarded one by one.
    judge : Judge, optional
        A model's opinion on wordings.

    Returns
    -------
    GuardResult
        ``accepted``, ``rejected`` or ``abstained``, with a finding for every reason.

    Raises
    ------
    ParameterError
        Facts that do not stand in the original, a composition, or no task where one is needed.

    Examples
    --------
    >>> print(guard("Cancel order A-17 today.", "Please cancel order A-71 today."))
    rejected
      lost_identifier: 'A-17' is gone
      new_identifier: 'A-71' is new
    """
    before = original if isinstance(original, Variant) else Variant(original)
    after = variant if isinstance(variant, Variant) else Variant(variant)
    promise = perturbation or _REWORDING
    if promise.stages:
        raise ParameterError(f"{promise.name} is a composition: guard each of its steps, as make_variants does")
    about = task or TaskView(id="text", prompt=before.prompt, facts=facts or Facts())
    about = about.with_prompt(before.prompt)
    if facts is not None and before.prompt is not None:
        stands_in(facts, before.prompt, "facts")
    kept = facts or about.facts
    if task is None and set(promise.may_change) - {"wording", "formats", "layout"}:
        raise ParameterError(
            f"{promise.name} changes {promise.may_change}: give task=, which holds the tools and facts"
        )
    found = list(_findings(before, after, promise, about, kept))
    if any(finding.code != "no_prompt" for finding in found):
        return GuardResult(REJECTED, tuple(finding for finding in found if finding.code != "no_prompt"))
    if found:
        return GuardResult(ABSTAINED, tuple(found))
    asked = judge is not None and before.prompt != after.prompt and set(promise.may_change) & set(_JUDGED)
    return _judged(before, after, kept, promise, judge) if judge is not None and asked else GuardResult(ACCEPTED)


def _findings(
    before: Variant, after: Variant, promise: Perturbation, task: TaskView, facts: Facts
) -> Iterator[Finding]:
    allowed = {name for word in promise.may_change for name in CHANGES[word]}
    changed = [name for name in INPUT_FIELDS if getattr(before, name) != getattr(after, name)]
    yield from (Finding("undeclared_change", f"{name} changed") for name in changed if name not in allowed)
    if allowed and not set(changed) & allowed:
        if "prompt" in allowed and before.prompt is None:
            yield Finding("no_prompt", "the original wording is not on record")
            return
        if not set(promise.may_change) & {"sampling"}:
            yield Finding("unchanged", "the variant is the original")
    if "prompt" in changed and "prompt" in allowed:
        yield from _of_the_prompt(before, after, promise, task, facts)
    for name, check in PART_CHECKS.items():
        if name in allowed and (name in changed or name == "sampling"):
            yield from check(before, after, task, promise.default_sampling)
    for own in promise.checks:
        if (said := own(task, before, after)) is not None:
            yield Finding("invalidated", said)


def _of_the_prompt(
    before: Variant, after: Variant, promise: Perturbation, task: TaskView, facts: Facts
) -> Iterator[Finding]:
    if before.prompt is None or after.prompt is None:
        yield Finding("no_prompt", "a wording is not on record")
        return
    kind = next(word for word in promise.may_change if "prompt" in CHANGES[word])
    if kind == "wording":
        yield from compare_texts(before.prompt, after.prompt, facts=facts, preserve=promise.must_preserve)
    else:
        yield from _PROMPT_CHECKS[kind](before.prompt, after.prompt, task)


def _judged(before: Variant, after: Variant, facts: Facts, promise: Perturbation, judge: Judge) -> GuardResult:
    same = promise.writer is not None and promise.writer == judge.name
    answer = judge(before.prompt or "", after.prompt or "", facts)
    try:
        opinion = answer if isinstance(answer, Opinion) else read_opinion(answer)
    except ParameterError as error:
        return GuardResult(ABSTAINED, (Finding("judge_unreadable", str(error)),), judge.name, same)
    if opinion.verdict == "same":
        return GuardResult(ACCEPTED, (), judge.name, same)
    if opinion.verdict == "different":
        return GuardResult(
            REJECTED, (Finding("judge_different", opinion.reason or "no reason given"),), judge.name, same
        )
    return GuardResult(ABSTAINED, (Finding("judge_abstained", opinion.reason or "no reason given"),), judge.name, same)
