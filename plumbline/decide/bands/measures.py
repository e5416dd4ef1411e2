"""What each field measures on one pair of trials: the incumbent's and the candidate's, of the same fixture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jsonschema import Draft202012Validator

from plumbline.decide.bands.order import calls_matched, judge_order
from plumbline.decide.bands.parts import Tool
from plumbline.decide.bands.rows import WORST, Found, graded_score
from plumbline.decide.bands.scorers import Scorer
from plumbline.decide.bands.trials import Call, Trial
from plumbline.rules.values import equal

__all__ = ["MEASURES", "Pair", "check_name", "text_of"]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two trials of one fixture and what is needed to compare them."""

    old: Trial
    new: Trial
    tools: Mapping[str, Tool]
    scorer: Scorer
    text_rule: Any
    judged: Mapping[tuple[str, str], tuple[str, str]]
    """Verdict and sentence of checks and forbidden tools that were not kept, by trial and name of the rule."""

    @property
    def place(self) -> str:
        """The two trials, for evidence."""
        return f"{self.old.trial_id} | {self.new.trial_id}"


def text_of(trial: Trial, at: str | None) -> str | None:
    """Return the text of an answer: the whole of it, or what stands at a key of an answer that is JSON."""
    if at is None:
        return trial.final_output
    value = trial.answer
    for key in at.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value if isinstance(value, str) else None


def _text(rule: Any, pair: Pair) -> Found:
    old, new = text_of(pair.old, rule.at), text_of(pair.new, rule.at)
    where = f" at {rule.at!r}" if rule.at else ""
    if old is None:
        return Found("cannot_tell", note=f"the baseline has no text{where}")
    if new is None:
        return Found("fail", note=f"the answer has no text{where}")
    value = pair.scorer.scores([(old, new)])[0]
    found = graded_score(rule.pass_, rule.warn, value)
    if found.verdict == "pass":
        return found
    note = "in the grey zone: a reviewer reads both" if found.verdict == "warn" else "another text"
    return Found(found.verdict, value, "score", found.distance, note, _apart(old, new))


def _apart(old: str, new: str) -> str:
    """Show where two texts part: what they share before is cut."""
    one, two = (" ".join(text.split()) for text in (old, new))
    shared = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    start = max(shared - 24, 0)
    return f"{_short(one, start)} → {_short(two, start)}"


def _short(text: str, start: int) -> str:
    shown = text[start:]
    cut = shown if len(shown) <= 90 else f"{shown[:89]}…"
    return json.dumps(f"…{cut}" if start else cut, ensure_ascii=False)


_VALIDATORS: dict[int, tuple[Any, Any]] = {}


def _validator(types: Any) -> Any:
    known = _VALIDATORS.get(id(types))
    if known is None or known[0] is not types:
        known = _VALIDATORS[id(types)] = (types, Draft202012Validator(types))
    return known[1]


def _structure(rule: Any, pair: Pair) -> Found:
    passed = rule.pass_
    old, new = (t.outcome_value if rule.of == "outcome" else t.answer for t in (pair.old, pair.new))
    what = "outcome" if rule.of == "outcome" else "answer"
    if not isinstance(new, Mapping):
        return Found("fail", note=f"the {what} is no JSON object")
    wrong = [f"lacks {key!r}" for key in passed.required if key not in new]
    if passed.others == "refuse":
        known = {*passed.required, *passed.optional}
        wrong += [f"has the key {key!r}, which is neither required nor optional" for key in new if key not in known]
    if passed.types:
        for error in _validator(passed.types).iter_errors(_binary(new)):
            place = ".".join(map(str, error.absolute_path)) or what
            wrong.append(f"{place}: {error.message[:80]}")
    if passed.exact and not isinstance(old, Mapping):
        return Found(
            "fail" if wrong else "cannot_tell", note="; ".join([*wrong, f"the baseline's {what} is no object"])
        )
    for key in passed.exact:
        there = key in old, key in new
        if there[0] != there[1] or (all(there) and not equal(new[key], old[key])):
            wrong.append(f"{key} is {new.get(key)!s} and was {old.get(key)!s}")
    if wrong:
        return Found("fail", note="; ".join(wrong[:3]))
    held = old if isinstance(old, Mapping) else {}
    gained, lost = [key for key in new if key not in held], [key for key in held if key not in new]
    said = [f"gains the optional key {', '.join(map(repr, gained))}"] if gained and held else []
    said += [f"drops the optional key {', '.join(map(repr, lost))}"] if lost else []
    return Found("pass", note="; ".join(said))


def _binary(value: Any) -> Any:
    """Numbers as a JSON Schema validator takes them: Decimals with no fraction as integers, others as floats."""
    if isinstance(value, Mapping):
        return {key: _binary(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_binary(member) for member in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            yield from _leaves(member, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for i, member in enumerate(value):
            yield from _leaves(member, f"{path}[{i}]")
    else:
        yield path, value


def _split(pair: Pair, passed: Any, old: Call, new: Call) -> Found:
    """Compare the arguments of two calls under the split rule."""
    if old.arguments_text == new.arguments_text and old.arguments_text is not None:
        return Found("pass")
    if old.arguments is None or new.arguments is None:
        return Found("cannot_tell", note=f"the arguments of {new.name} are not on record")
    free, ignored = set(passed.free_text.get(new.name, ())), set(getattr(passed, "ignored", {}).get(new.name, ()))
    before, after = dict(_leaves(old.arguments)), dict(_leaves(new.arguments))
    worst = Found("pass")
    for path in dict.fromkeys([*before, *after]):
        if path in ignored:
            continue
        there = path in before and path in after
        one, two = before.get(path), after.get(path)
        if there and equal(two, one):
            continue
        where = f"{new.name}.{path} (step {new.step})"
        if there and path in free and isinstance(one, str) and isinstance(two, str):
            value = pair.scorer.scores([(one, two)])[0]
            rule = pair.text_rule
            found = graded_score(rule.pass_, rule.warn, value, evidence=f"{where}: {_apart(one, two)}")
            if found.verdict != "pass":
                said = "free text in the grey zone" if found.verdict == "warn" else "another free text"
                found = Found(found.verdict, value, "score", found.distance, f"{where}: {said}", found.evidence)
        else:
            was = _plain(one) if path in before else "absent"
            found = Found("fail", note=f"{where} is {_plain(two) if path in after else 'absent'} and was {was}")
        worst = max(worst, found, key=_rank)
    return worst


def _plain(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _rank(found: Found) -> tuple[int, float]:
    return WORST[found.verdict], -(found.distance if found.distance is not None else 0.0)


def _arguments(rule: Any, pair: Pair) -> Found:
    if pair.old.path == pair.new.path:
        return Found("pass")
    pairs, _, _ = calls_matched(pair.old.calls, pair.new.calls)
    worst = Found("pass")
    for i, j in pairs:
        worst = max(worst, _split(pair, rule.pass_, pair.old.calls[i], pair.new.calls[j]), key=_rank)
    return worst


def _order(rule: Any, pair: Pair) -> Found:
    old, new = pair.old.calls, pair.new.calls
    if pair.old.path == pair.new.path and not any(call.group is not None for call in (*old, *new)):
        return Found("pass")
    found = judge_order(rule.pass_, old, new, pair.tools, prompts=(pair.old.prompt, pair.new.prompt))
    return Found(found.verdict, note=found.said)


def _tool_set(rule: Any, pair: Pair) -> Found:
    old, new = ({call.name for call in trial.calls} for trial in (pair.old, pair.new))
    value = len(old & new) / len(old | new) if old | new else 1.0
    said = [f"no longer calls {', '.join(sorted(old - new))}"] if old - new else []
    said += [f"now calls {', '.join(sorted(new - old))}"] if new - old else []
    return graded_score(rule.pass_, rule.warn, value, note="; ".join(said))


def check_name(item: Any) -> str:
    """Name a required check or a forbidden tool, as the rule that judges it."""
    if isinstance(item, str):
        return f"{item} is forbidden"
    return f"{item.call} before each {item.before}" + (f", of the same {item.by}" if item.by else "")


def _judged(rule: Any, pair: Pair) -> Found:
    """Return what the rules of a policy said of the candidate's trial."""
    told = [pair.judged.get((pair.new.trial_id, check_name(item))) for item in rule.pass_]
    found = [Found(verdict, note=said) for verdict, said in filter(None, told)]
    return max(found, key=_rank, default=Found("pass"))


def _agents(rule: Any, pair: Pair) -> Found:
    passed, old, new = rule.pass_, pair.old.agents, pair.new.agents
    if passed.invoked == "same":
        before, after = ([(call.name, then) for call, then in calls] for calls in (old, new))
        if before != after:
            return Found("fail", note=f"agents called: {_when(after)}; before: {_when(before)}")
    if passed.transcripts == "required":
        for trial, calls in ((pair.old, old), (pair.new, new)):
            for call, _ in calls:
                if not trial.children.get(call.call_id if call.call_id is not None else "", 0):
                    place = f"{trial.trial_id}, step {call.step}"
                    return Found("cannot_tell", note=f"no steps of {call.name} on record within its call ({place})")
    worst = Found("pass")
    for (one, _), (two, _) in zip(old, new, strict=False):
        if one.name == two.name:
            worst = max(worst, _split(pair, passed, one, two), key=_rank)
    return worst


def _when(calls: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {f'after {then}' if then else 'first'}" for name, then in calls) or "none"


MEASURES: Mapping[str, Callable[[Any, Pair], Found]] = {
    "text": _text,
    "structure": _structure,
    "arguments": _arguments,
    "order": _order,
    "checks": _judged,
    "forbidden": _judged,
    "tool_set": _tool_set,
    "agents": _agents,
}
"""Field to what it measures on a pair; latency, tokens, cost and steps are ratios over repetitions."""
