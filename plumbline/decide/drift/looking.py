"""The looks of a monitor: one session beside its baseline, a window beside its baseline, the run of failures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev

import numpy as np

from plumbline.decide.drift.alerts import Alert, span, times_more
from plumbline.decide.drift.ruling import DriftRules
from plumbline.decide.drift.sessions import NUMBERS, Session
from plumbline.stats import (
    BernoulliCusum,
    Family,
    adjust,
    e_process,
    mmd_test,
    spectrum_gram,
    tool_mix_test,
    window_rank_test,
)

__all__ = ["failing", "not_watched", "public", "single", "window"]


def _values(sessions: Sequence[Session], name: str) -> list[float]:
    return [value for one in sessions if (value := one.number(name)) is not None]


def _against(found: Sequence[Session], baseline: Sequence[Session]) -> str:
    return f"{span([one.id for one in found])} against {span([one.id for one in baseline])}"


def _level(name: str, value: float, usual: float) -> str:
    ratio = f", {value / usual:.3g} times" if usual else ""
    return f"{value:.4g} {NUMBERS[name]} against a baseline median of {usual:.4g}{ratio}"


def _most_changed(session: Session, baseline: Sequence[Session]) -> str:
    """Name the tool whose calls differ most from the baseline's mean."""
    names = sorted({*session.tools, *(tool for one in baseline for tool in one.tools)})
    means = {name: fmean(one.tools.count(name) for one in baseline) for name in names}
    name = max(names, key=lambda tool: abs(session.tools.count(tool) - means[tool]), default="")
    return times_more(name, session.tools.count(name), means[name]) if name else "called nothing"


def _numeric(name: str, value: float, session: Session, baseline: Sequence[Session], rule: str) -> Alert:
    usual = float(median(_values(baseline, name)))
    said = _most_changed(session, baseline) if name == "tool_calls" else _level(name, value, usual)
    text = f"{said}: {_against([session], baseline)}"
    return Alert(feature=name, sessions=(session.id,), text=text, rule=rule, found=value, usual=usual)


def public(session: Session, baseline: Sequence[Session]) -> list[Alert]:
    """Judge one session by the public rule: |z| above 3, and Jaccard below 0.5 to the session before."""
    found = []
    for name in NUMBERS:
        value, known = session.number(name), _values(baseline, name)
        if value is None or len(known) < 2:
            continue
        gap, deviation = abs(value - fmean(known)), stdev(known)
        if gap > 3 * deviation + 1e-12:
            z = f"z {gap / deviation:.3g}" if deviation else "z infinite, the baseline never varied"
            found.append(_numeric(name, value, session, baseline, f"{z} above 3"))
    before, now = set(baseline[-1].tools), set(session.tools)
    likeness = len(before & now) / len(before | now) if before | now else 1.0
    if likeness < 0.5:
        gone, new = ", ".join(sorted(before - now)) or "none", ", ".join(sorted(now - before)) or "none"
        text = f"tools no longer called: {gone}; newly called: {new}: session {session.id} against {baseline[-1].id}"
        found.append(
            Alert(feature="tool_set", sessions=(session.id,), text=text, rule=f"Jaccard {likeness:.3g} below 0.5",
                  found=likeness, usual=0.5)
        )  # fmt: skip
    return found


def single(session: Session, baseline: Sequence[Session], rules: DriftRules) -> list[Alert]:
    """Judge one session by the t threshold on the log scale; it must also lie beyond every baseline session."""
    found = []
    for name in NUMBERS:
        value, known = session.number(name), _values(baseline, name)
        if value is None or len(known) < rules.baseline:
            continue
        logs = [math.log1p(max(0.0, one)) for one in known]
        own, edge = math.log1p(max(0.0, value)), rules.threshold(len(known))
        gap, deviation = abs(own - fmean(logs)), stdev(logs)
        beyond = own > max(logs) or own < min(logs)
        if not beyond or deviation == 0:  # a number that never varied says nothing of how far is far
            continue
        if gap > edge * deviation:
            rule = f"|t| {gap / deviation:.3g} above {edge:.3g} on the log scale, and beyond every baseline session"
            found.append(_numeric(name, value, session, baseline, rule))
    return found


def not_watched(baseline: Sequence[Session], rules: DriftRules) -> dict[str, str]:
    """Say which numbers cannot be watched, and why."""
    found = {}
    for name, word in NUMBERS.items():
        known = _values(baseline, name)
        if len(known) < rules.baseline:
            found[word] = f"recorded in {len(known)} of {len(baseline)} baseline sessions"
        elif rules.method == "sound" and len(set(known)) == 1:
            found[word] = "never varied in the baseline: single sessions are not judged, windows are"
    return found


def window(late: Sequence[Session], baseline: Sequence[Session], rules: DriftRules, *, turn: int) -> list[Alert]:
    """Test a window of sessions as a whole: numbers by rank, tools by G, order by MMD, Holm over all of them."""
    chance = np.random.default_rng([rules.seed, turn])
    both = [*baseline, *late]
    side = np.arange(len(both)) >= len(baseline)
    p: dict[str, float] = {}
    for name in NUMBERS:
        known, fresh = _values(baseline, name), _values(late, name)
        if len(known) >= rules.baseline and len(fresh) == len(late):
            p[name] = float(window_rank_test(known, fresh, draws=rules.draws, generator=chance).p or 1.0)
    names = sorted({tool for one in both for tool in one.tools})
    if names:
        counts = {name: [one.tools.count(name) for one in both] for name in names}
        mix = tool_mix_test(counts, side, alpha=rules.alpha, draws=rules.draws, generator=chance)
        p["tool_mix"] = float(mix.overall.p or 1.0)
        gram = spectrum_gram([one.tools for one in both], lengths=(2,))
        p["order"] = float(mmd_test(gram, ~side, draws=rules.draws, generator=chance).p or 1.0)
    if not p:
        return []
    judged = adjust(p, family=Family(name="window", members=tuple(p)), alpha=rules.alpha)
    ids, where = tuple(one.id for one in late), _against(late, baseline)
    found = []
    for name in judged.rejected:
        held = judged.adjusted[name]
        rule = f"permutation over sessions, adjusted p {held:.3g} at most {rules.alpha:g}"
        if name in NUMBERS:
            now, usual = float(median(_values(late, name))), float(median(_values(baseline, name)))
            texts = [(f"a median of {_level(name, now, usual)}", now, usual)]
        elif name == "tool_mix":
            told = mix.tools.rejected or (max(names, key=lambda tool: abs(mix.window[tool] - mix.baseline[tool])),)
            texts = [
                (times_more(tool, mix.window[tool], mix.baseline[tool]), mix.window[tool], mix.baseline[tool])
                for tool in told
            ]
        else:
            beside = ", beside a changed mix of tools" if "tool_mix" in judged.rejected else ""
            texts = [(f"calls follow one another otherwise: {_pair(late, baseline)}{beside}", math.nan, math.nan)]
        found += [
            Alert(feature=name, sessions=ids, text=f"{text}: {where}", rule=rule, p=held,
                  found=None if math.isnan(now) else now, usual=None if math.isnan(usual) else usual)
            for text, now, usual in texts
        ]  # fmt: skip
    return found


def _pair(late: Sequence[Session], baseline: Sequence[Session]) -> str:
    """Name the pair of successive calls whose share changed most."""

    def shares(sessions: Sequence[Session]) -> dict[tuple[str, str], float]:
        pairs = [pair for one in sessions for pair in set(zip(one.tools, one.tools[1:], strict=False))]
        return {pair: pairs.count(pair) / len(sessions) for pair in sorted(set(pairs))}

    now, usual = shares(late), shares(baseline)
    pair = max(sorted({*now, *usual}), key=lambda one: abs(now.get(one, 0.0) - usual.get(one, 0.0)))
    return f"{pair[0]} then {pair[1]} in {now.get(pair, 0.0):.0%} of sessions against {usual.get(pair, 0.0):.0%}"


def failing(cusum: BernoulliCusum, failures: int, decided: int, rules: DriftRules) -> tuple[bool, str]:
    """Say whether failures have become too many, and by which rule."""
    if rules.conformance == "cusum":
        return cusum.alarm, f"CUSUM {cusum.value:.3g} reached {rules.limit:g}"
    bet = e_process(failures, decided - failures, threshold=rules.usual)
    return bet.rejects(rules.alpha), f"e-process, anytime p {bet.anytime_p:.3g} at most {rules.alpha:g}"
