"""How fast paths are aligned and arguments compared: goals P5 to P8, P12, P13 and P15, as ratios measured in one run.

Peers that are not installed (Biopython, agentevals) leave their rows unrun and say so. Every answer is compared with
the plain-Python oracle before anything is timed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from plumbline.compare import align, align_paths, equal_columns, judge_calls, pair_similarity
from plumbline.compare.scripts import OPS
from tests.bench.generate import CURRENCIES, PATHS, TOOLS, Synthetic, synthetic
from tests.bench.race import Times, peak_bytes, race, row
from tests.compare.oracle import needleman_wunsch, similarity

__all__ = ["bench", "wrong_answers"]

_LETTERS = "ABCDEFGHIJ"
Flat = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Paths:
    """Tool paths of many trials, a reference path for each, and the same as texts for the peers."""

    codes: np.ndarray
    offsets: np.ndarray
    task: np.ndarray

    @property
    def trials(self) -> int:
        return self.task.size

    @property
    def flat(self) -> Flat:
        return self.codes, self.offsets

    def head(self, trials: int) -> Paths:
        """The first trials only, for a candidate too slow for all."""
        trials = min(trials, self.trials)
        return Paths(self.codes[: self.offsets[trials]], self.offsets[: trials + 1], self.task[:trials])

    def texts(self) -> list[tuple[str, str]]:
        """Candidate and reference of each trial, one letter a tool."""
        whole = "".join(_LETTERS[code] for code in self.codes)
        references = ["".join(_LETTERS[code] for code in path) for path in PATHS]
        cuts = self.offsets.tolist()
        return [(whole[a:b], references[t]) for a, b, t in zip(cuts[:-1], cuts[1:], self.task.tolist(), strict=True)]


REFERENCES: Flat = (np.concatenate(PATHS).astype(np.int8), np.cumsum([0, *map(len, PATHS)]).astype(np.int64))


def usual_paths(trials: int, seed: int) -> Paths:
    """Paths that follow four tasks with noise: many trials share a path."""
    run = synthetic(trials, seed)
    called = run.tool >= 0
    offsets = np.concatenate([[0], np.cumsum(np.bincount(run.trial[called], minlength=trials))])
    return Paths(run.tool[called], offsets.astype(np.int64), run.task)


def random_paths(trials: int, seed: int) -> Paths:
    """Paths drawn at random, each kept once: nothing to share."""
    r = np.random.default_rng(seed)
    length = r.poisson(7, trials)
    offsets = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    drawn = Paths(r.integers(0, 10, int(length.sum())).astype(np.int8), offsets, r.integers(0, len(PATHS), trials))
    texts = [text for text, _ in drawn.texts()]
    kept = np.array(sorted({text: i for i, text in reversed(list(enumerate(texts)))}.values()))
    codes = np.concatenate([drawn.codes[offsets[i] : offsets[i + 1]] for i in kept])
    return Paths(codes, np.concatenate([[0], np.cumsum(length[kept])]).astype(np.int64), drawn.task[kept])


def _align(paths: Paths) -> Callable[[], object]:
    return lambda: align_paths(paths.flat, REFERENCES, paths.task).each()


def wrong_answers(paths: Paths) -> int:
    """Count the pairs whose score or script differs from the plain-Python table."""
    found = align_paths(paths.flat, REFERENCES, paths.task).each()
    wrong = 0
    for position, (text, reference) in enumerate(paths.texts()):
        script = found.ops[found.offsets[position] : found.offsets[position + 1]]
        got = int(found.scores[position]), tuple(OPS[op] for op in script)
        wrong += got != needleman_wunsch(text, reference)
    return wrong


def _plain(texts: list[tuple[str, str]]) -> Callable[[], object]:
    return lambda: [needleman_wunsch(one, other) for one, other in texts]


def _editops(texts: list[tuple[str, str]]) -> Callable[[], object]:
    return lambda: [Levenshtein.editops(one, other) for one, other in texts]


def _biopython() -> Any:
    if importlib.util.find_spec("Bio") is None:
        return None
    from Bio.Align import PairwiseAligner

    return PairwiseAligner(mode="global", match_score=2, mismatch_score=-1, open_gap_score=-2, extend_gap_score=-2)


def _alignment(rounds: int, trials: int, slice_: int) -> list[dict[str, Any]]:
    """P5 and P6: many trials against their references, with scripts."""
    rows = []
    aligner = _biopython()
    for name, paths in (("P5", usual_paths(trials, 1)), ("P6", random_paths(trials, 2))):
        if wrong := wrong_answers(paths.head(slice_)):
            raise AssertionError(f"{wrong} alignments differ from the oracle")
        some = paths.head(slice_).texts()
        candidates = {"ours": _align(paths), "rapidfuzz": _editops(paths.texts()), "plain": _plain(some)}
        units = {"ours": paths.trials, "rapidfuzz": paths.trials, "plain": len(some)}
        if aligner is not None and name == "P5":
            candidates["biopython"] = lambda a=aligner, s=some: [a.align(x, y)[0].coordinates for x, y in s if x]
            units["biopython"] = sum(bool(x) for x, _ in some)
        times = race(candidates, rounds=rounds, units=units)
        kind = "few paths" if name == "P5" else "all paths different"
        what = f"align and script, {paths.trials} trials, {kind}"
        bars = ((1.5, 60.0), (5.0, 10.0))[name == "P6"]
        rows.append(row(name, f"{what}: of rapidfuzz editops", times.ratio("ours", "rapidfuzz"), bars[0], "<="))
        rows.append(row(name, f"{what}: times plain Python", times.ratio("plain", "ours"), bars[1], ">="))
        if name == "P5":
            rows.append(_peer("P5", f"{what}: times Biopython align", times, "biopython", 12.0))
    return rows


def _peer(id_: str, what: str, times: Times, peer: str, goal: float) -> dict[str, Any]:
    if peer not in times.seconds:
        return row(id_, what, None, goal, ">=", note=f"{peer} is not installed")
    return row(id_, what, times.ratio(peer, "ours"), goal, ">=")


def _small(rounds: int, trials: int, length: int) -> list[dict[str, Any]]:
    """P7: few trials, and one long pair."""
    paths = usual_paths(trials, 3)
    r = np.random.default_rng(4)
    one, other = r.integers(0, 10, (2, length)).astype(np.int8)
    cut = np.array([0, length])

    def long_pair() -> Any:
        return align_paths((one, cut), (other, cut), np.zeros(1, np.int64))

    score, script = needleman_wunsch(one.tolist(), other.tolist())
    found = long_pair()
    if (int(found.scores[0]), tuple(OPS[op] for op in found.ops)) != (score, script):
        raise AssertionError("the long pair differs from the oracle")
    texts = paths.texts()
    few = race({"ours": _align(paths), "plain": _plain(texts)}, rounds=rounds)
    plain = race(
        {"ours": long_pair, "plain": lambda: needleman_wunsch(one.tolist(), other.tolist())}, rounds=min(rounds, 3)
    )
    return [
        row("P7", f"align {trials} trials: times plain Python", few.ratio("plain", "ours"), 1.5, ">="),
        row("P7", f"align one pair of {length} steps: times plain Python", plain.ratio("plain", "ours"), 1.5, ">="),
    ]


def _all_pairs(rounds: int, trials: int, sizes: tuple[tuple[int, float], ...]) -> list[dict[str, Any]]:
    """P8: every pair of trials within cells of one task."""
    paths, aligner = usual_paths(trials, 5), _biopython()
    order = np.lexsort((np.arange(trials), paths.task))
    texts = [text for text, _ in paths.texts()]
    rows = []
    for size, goal in sizes:
        cells = np.empty(trials, np.int64)
        cells[order] = np.arange(trials) // size
        found = pair_similarity(paths.flat, cells)
        members = np.flatnonzero(cells == 0)[:40]
        part = pair_similarity(_chosen(paths, members), np.zeros(members.size, np.int64))
        alike = [similarity(texts[i], texts[j]) for i in members for j in members if i < j]
        if abs(part.similarity[0] - np.mean(alike)) > 1e-12:
            raise AssertionError("all-pairs similarity differs from the oracle")
        pairs = int(found.pairs.sum())
        candidates: dict[str, Callable[[], object]] = {"ours": lambda c=cells: pair_similarity(paths.flat, c)}
        units: dict[str, float] = {"ours": pairs}
        if aligner is not None:
            filled = [texts[i] for i in np.flatnonzero(cells == 0)[:150] if texts[i]]
            candidates["biopython"] = lambda f=filled: [
                aligner.score(f[i], f[j]) for i in range(len(f)) for j in range(i)
            ]
            units["biopython"] = len(filled) * (len(filled) - 1) // 2
        times = race(candidates, rounds=rounds, units=units)
        rows.append(_peer("P8", f"all {pairs} pairs, cells of {size}: times Biopython score", times, "biopython", goal))
    return rows


def _chosen(paths: Paths, members: np.ndarray) -> Flat:
    parts = [paths.codes[paths.offsets[i] : paths.offsets[i + 1]] for i in members]
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)]).astype(np.int64)


def same(one: Any, other: Any) -> bool:
    """Typed equality as a person would write it."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def _arguments(rounds: int, run: Synthetic, slice_: int) -> list[dict[str, Any]]:
    """P12: typed columns, few distinct texts, one tool's rows."""
    r = np.random.default_rng(6)
    n = run.n_steps
    limit, order, amount = r.integers(1, 50, n), r.integers(0, 100_000, n), run.amount
    columns = pd.DataFrame(
        {
            "amount": amount,
            "currency": pd.Categorical.from_codes(run.currency, pd.Index(CURRENCIES)),
            "limit": limit,
            "order": pd.Series(order).astype("str"),
        }
    )
    expected = {"amount": float(amount[7]), "currency": "EUR", "limit": int(limit[7]), "order": str(order[7])}

    def numpy_compare() -> np.ndarray:
        hit = (amount == amount[7]) & (run.currency == 0)
        return hit & (limit == limit[7]) & (order == order[7])

    if not np.array_equal(equal_columns(columns, expected), numpy_compare()):
        raise AssertionError("typed columns differ from numpy")
    few = np.array(['{"a":1,"b":"x"}', '{"a":1.0,"b":"x"}', '{"a":"1","b":"x"}'], object)[r.integers(0, 3, n)]
    frame = pd.DataFrame({"name": "search", "arguments": pd.Series(few, dtype="str")})
    some = few[:slice_].tolist()
    wanted = {"a": 1, "b": "x"}
    each = [same(json.loads(text), wanted) for text in some]
    if (judge_calls(frame.iloc[:slice_], "search", wanted) == "equal").tolist() != each:
        raise AssertionError("few distinct texts differ from the loop")
    first = race({"ours": lambda: equal_columns(columns, expected), "numpy": numpy_compare}, rounds=rounds)
    second = race(
        {
            "ours": lambda: judge_calls(frame, "search", wanted),
            "loop": lambda: [same(json.loads(t), wanted) for t in some],
        },
        rounds=rounds,
        units={"ours": n, "loop": len(some)},
    )
    return [
        row(
            "P12",
            f"typed columns against one record, {n} steps: of a numpy compare",
            first.ratio("ours", "numpy"),
            8,
            "<=",
        ),
        row("P12", f"few distinct texts, {n} steps: times json and == on each", second.ratio("loop", "ours"), 50, ">="),
        _one_tool(rounds, run, slice_),
    ]


def _one_tool(rounds: int, run: Synthetic, slice_: int) -> dict[str, Any]:
    n = min(slice_, run.n_steps)
    texts = [
        json.dumps({"amount": a, "currency": CURRENCIES[c], "order": i}, separators=(",", ":"))
        for i, (a, c) in enumerate(zip(run.amount[:n].tolist(), run.currency[:n].tolist(), strict=True))
    ]
    names = np.array([*TOOLS, None], object)[run.tool[:n]]
    frame = pd.DataFrame({"name": pd.Series(names, dtype="str"), "arguments": pd.Series(texts, dtype="str")})
    at = int(np.flatnonzero(names == "refund")[0])
    wanted = json.loads(texts[at])

    def loop() -> list[bool]:
        return [same(json.loads(text), wanted) for text in texts]

    hits = [hit for hit, name in zip(loop(), names, strict=True) if name == "refund"]
    if (judge_calls(frame, "refund", texts[at]) == "equal").tolist() != hits or not any(hits):
        raise AssertionError("one tool's rows differ from the loop")
    times = race({"ours": lambda: judge_calls(frame, "refund", texts[at]), "loop": loop}, rounds=rounds)
    return row("P12", f"one tool's rows of {n}: times parsing all rows", times.ratio("loop", "ours"), 4, ">=")


def _memory(trials: int) -> list[dict[str, Any]]:
    """P13: peak allocation of an alignment with scripts, beyond its input."""
    rows = []
    for kind, paths in (("few paths", usual_paths(trials, 7)), ("all paths different", random_paths(trials, 8))):
        peak = peak_bytes(_align(paths)) / max(paths.codes.size, 1)
        rows.append(row("P13", f"peak bytes a step, align {paths.trials} trials, {kind}", peak, 40, "<="))
    return rows


def _frames(run: Synthetic) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    """Steps of a run and of its four references, as frames."""
    called = np.flatnonzero(run.tool >= 0)
    trial, tool = run.trial[called], run.tool[called]
    argument = np.array([json.dumps({"currency": word}, separators=(",", ":")) for word in CURRENCIES], object)
    start = np.searchsorted(trial, trial)
    ids = np.array([f"t{i}" for i in range(run.trials)], object)
    new = pd.DataFrame(
        {
            "trial_id": pd.Series(ids[trial], dtype="str"), "step": np.arange(trial.size) - start, "kind": "tool_call",
            "name": pd.Series(np.array(TOOLS, object)[tool], dtype="str"),
            "arguments": pd.Series(argument[run.currency[called]], dtype="str"),
        }
    )  # fmt: skip
    steps = [(task, step, TOOLS[code]) for task, path in enumerate(PATHS) for step, code in enumerate(path)]
    columns = ["trial_id", "step", "kind", "name", "arguments"]
    old = pd.DataFrame([(f"ref{t}", step, "tool_call", tool, argument[0]) for t, step, tool in steps], columns=columns)
    return new, old, {ids[i]: f"ref{run.task[i]}" for i in range(run.trials)}


def _verdicts(rounds: int, sizes: tuple[tuple[int, float], ...]) -> list[dict[str, Any]]:
    """P15: same calls in the same order with the same arguments, one verdict a trial, for a whole run."""
    rows = []
    for trials, goal in sizes:
        run = synthetic(trials, 9)
        new, old, pairs = _frames(run)
        silent = set(pairs) - set(new["trial_id"])

        def ours(
            new: pd.DataFrame = new, old: pd.DataFrame = old, pairs: dict = pairs, silent: set = silent
        ) -> pd.Series:
            return align(new, old, pairs=pairs, empty=silent).same_calls

        texts: dict[str, list[tuple[str, str]]] = {trial: [] for trial in pairs}
        for trial, name, arguments in zip(new["trial_id"], new["name"], new["arguments"], strict=True):
            texts[trial].append((name, arguments))
        wanted = {key: list(zip(part["name"], part["arguments"], strict=True)) for key, part in old.groupby("trial_id")}
        truth = [texts[trial] == wanted[reference] for trial, reference in pairs.items()]
        if ours().tolist() != truth or not any(truth):
            raise AssertionError("verdicts of a whole run differ from the loop")
        candidates: dict[str, Callable[[], object]] = {"ours": ours}
        peer = _agentevals(texts, wanted, pairs)
        units: dict[str, float] = {"ours": trials}
        if peer is not None:
            candidates["agentevals"], units["agentevals"] = peer
        times = race(candidates, rounds=rounds, units=units)
        rows.append(
            _peer("P15", f"match verdict of {trials} trials: times agentevals strict", times, "agentevals", goal)
        )
    return rows


def _agentevals(texts: dict, wanted: dict, pairs: dict) -> tuple[Callable[[], object], int] | None:
    if importlib.util.find_spec("agentevals") is None:
        return None
    os.environ.setdefault("LANGSMITH_TRACING", "false")
    with contextlib.redirect_stdout(io.StringIO()):
        from agentevals.trajectory.match import create_trajectory_match_evaluator
    judge = create_trajectory_match_evaluator(trajectory_match_mode="strict", tool_args_match_mode="exact")

    def messages(calls: list[tuple[str, str]]) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = [{"role": "user", "content": "do it"}]
        for i, (name, arguments) in enumerate(calls):
            function = {"id": str(i), "type": "function", "function": {"name": name, "arguments": arguments}}
            out.append({"role": "assistant", "content": "", "tool_calls": [function]})
            out.append({"role": "tool", "content": "ok", "tool_call_id": str(i)})
        return [*out, {"role": "assistant", "content": "done"}]

    some = list(pairs.items())[:250]
    made, references = [messages(texts[t]) for t, _ in some], [messages(wanted[r]) for _, r in some]
    run = lambda: [judge(outputs=a, reference_outputs=b) for a, b in zip(made, references, strict=True)]  # noqa: E731
    return run, len(some)


def bench(rounds: int = 5, tiny: bool = False) -> list[dict[str, Any]]:
    """Measure the goals of alignment and typed comparison.

    Parameters
    ----------
    rounds : int
        How often each candidate is timed.
    tiny : bool
        A few hundred trials instead of 125,000: the answers are checked all the same, the ratios mean nothing.
    """
    trials, slice_ = (300, 60) if tiny else (125_000, 2_000)
    steps = 400 if tiny else 100_000
    return [
        *_alignment(rounds, trials, slice_),
        *_small(rounds, 20 if tiny else 250, 40 if tiny else 500),
        *_all_pairs(rounds, trials, ((20, 30.0), (60, 500.0)) if tiny else ((50, 30.0), (1000, 500.0))),
        *_arguments(rounds, synthetic(trials, 10), steps),
        *_memory(trials),
        *_verdicts(rounds, ((60, 20.0), (trials, 1000.0)) if tiny else ((250, 20.0), (trials, 1000.0))),
    ]
