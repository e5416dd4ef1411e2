"""Rules where other tools want a function: evaluators, an Inspect scorer, an assertion for pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import pandas as pd

from plumbline.base.errors import ParameterError
from plumbline.exchange import read_traces
from plumbline.rules import Policy, Verdicts, check
from plumbline.traces import Recording

__all__ = ["Evaluation", "ViolationError", "assert_conforms", "evaluator", "inspect_scorer"]

_DECIDED = ("held", "violated")


class Evaluation(TypedDict):
    """What an evaluator returns: name, score (None where it cannot be told) and a sentence."""

    key: str
    score: bool | None
    comment: str


class ViolationError(AssertionError):
    """A trajectory violates a rule; the message names rule, step, expected and observed."""


def evaluator(
    policy: Policy | Any, *, key: str | None = None, severity: str = "low", format: str = "auto"
) -> Callable[..., Evaluation]:
    """Make a plain function ``(inputs, outputs, reference_outputs)`` of a policy or of one rule.

    Parameters
    ----------
    policy : Policy or rule
        What must be kept.
    key : str, optional
        Name of the score; by default the policy's.
    severity : str
        Rules of this severity and worse count.
    format : str
        Format of the outputs, see ``read_traces``.

    Returns
    -------
    callable
        `outputs` is a trajectory in any format that ``read_traces`` knows, for example OpenAI messages, or a mapping
        with ``messages``; a `Recording` will do. `reference_outputs` may be a mapping of what the system of record
        says (the context that rules read). `inputs` is not needed.

    Raises
    ------
    TraceFormatError
        When called with outputs that are no trajectory.

    Examples
    --------
    >>> from plumbline.rules import MustCall
    >>> judge = evaluator(MustCall("check"))
    >>> said = [{"role": "user", "content": "Pay"}, {"role": "assistant", "content": "Done."}]
    >>> judge(outputs=said)["score"]
    False
    """
    rules = policy if isinstance(policy, Policy) else Policy("rule", (policy,))
    name = key or (rules.name if isinstance(policy, Policy) else rules.ids[0])

    def judge(
        inputs: Any = None, outputs: Any = None, reference_outputs: Mapping[str, Any] | None = None, **_: Any
    ) -> Evaluation:
        verdicts = _check(rules, outputs, reference_outputs, format)
        return {"key": name, "score": _score(verdicts, severity), "comment": _comment(verdicts)}

    return judge


def assert_conforms(
    trajectory: Any, policy: Policy, *, context: Mapping[str, Any] | None = None, severity: str = "low",
    format: str = "auto",
) -> None:  # fmt: skip
    """Fail a test with a readable message if a trajectory or a run violates a policy.

    Parameters
    ----------
    trajectory : object
        A run, or anything that ``read_traces`` reads.
    policy : Policy
        What must be kept.
    context : mapping, optional
        What the system of record says, for a single trajectory.
    severity : str
        Rules of this severity and worse count.
    format : str
        Format of the trajectory, see ``read_traces``.

    Raises
    ------
    ViolationError
        A rule was violated, or could not be judged: what cannot be told is no pass.
    """
    verdicts = _check(policy, trajectory, context, format)
    held = verdicts.conforms(severity=severity)
    if held.isna().any() or not held.all():
        raise ViolationError(_comment(verdicts))


def inspect_scorer(policy: Policy, *, severity: str = "low") -> Any:
    """Make a scorer for Inspect that judges the messages of a sample.

    Parameters
    ----------
    policy : Policy
        What must be kept; the sample's metadata are the context that rules read.
    severity : str
        Rules of this severity and worse count.

    Raises
    ------
    ParameterError
        The package ``inspect_ai`` is not installed.
    """
    try:
        from inspect_ai.scorer import NOANSWER, Score, accuracy, scorer, stderr
    except ModuleNotFoundError:
        raise ParameterError("an Inspect scorer needs the package inspect_ai: pip install inspect-ai") from None
    judge = evaluator(policy, severity=severity)

    @scorer(metrics=[accuracy(), stderr()], name=policy.name)
    def conformance() -> Any:
        async def score(state: Any, target: Any) -> Any:
            messages = [message.model_dump(exclude_none=True) for message in state.messages]
            found = judge(outputs=messages, reference_outputs=dict(state.metadata or {}))
            value = NOANSWER if found["score"] is None else float(found["score"])
            return Score(value=value, explanation=found["comment"])

        return score

    return conformance()


def _check(policy: Policy, outputs: Any, context: Mapping[str, Any] | None, format: str) -> Verdicts:
    if outputs is None:
        raise ParameterError("there is nothing to judge: give outputs=, a trajectory that read_traces reads")
    if isinstance(outputs, Recording):
        return check(outputs, policy)
    if isinstance(outputs, Mapping) and isinstance(outputs.get("messages"), list):
        outputs = outputs["messages"]
    run = read_traces(outputs, format=format, task="trajectory")
    contexts = {task: dict(context) for task in run.trials["task_id"].unique()} if context else None
    return check(run, policy, contexts=contexts)


def _score(verdicts: Verdicts, severity: str) -> bool | None:
    held = verdicts.conforms(severity=severity)
    if (held == False).any():  # noqa: E712
        return False
    return None if held.isna().any() else True


def _comment(verdicts: Verdicts) -> str:
    violations = verdicts.violations()
    lines = [
        f"{row['trial_id']}: {row['rule']} ({row['severity']}) violated"
        + (" (no such call)" if pd.isna(row["step"]) else f" at step {row['step']} ({row['name']})")
        + f": expected {row['expected']}; observed {row['observed']}"
        for row in violations.head(20).to_dict("records")
    ]
    if len(violations) > len(lines):
        lines.append(f"and {len(violations) - len(lines)} more")
    table = verdicts.to_frame()
    unseen = table[table["verdict"] == "unobservable"]
    lines += [f"{r['trial_id']}: {r['rule']} cannot be told: {r['reason']}" for r in unseen.head(20).to_dict("records")]
    if lines:
        return "\n".join(lines)
    decided = int(table["verdict"].isin(_DECIDED).sum())
    idle = table[table["verdict"] == "not_applicable"].drop_duplicates("rule")
    lines = [f"{decided} of {len(table)} verdicts were decided, and all of these held"]
    return "\n".join([*lines, *(f"{r['rule']} did not apply: {r['reason']}" for r in idle.head(20).to_dict("records"))])
