"""The sections of a standard report, in order: each writes prose and code, and leaves out what the run lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plumbline.base.errors import InputError
from plumbline.show.standard.book import Book
from plumbline.show.standard.words import SUCCESS, note, notes_html, plain
from plumbline.traces import Recording

__all__ = ["ARMS_A_FIGURE", "MOST_COMPARED", "SECTIONS"]

ARMS_A_FIGURE = 6
"""As many arms as the theme can tell apart; a run of more is drawn in several figures."""

MOST_COMPARED = 3
"""How many other arms are set beside the first; a page of more would be too long to read."""

_HEAD = "## {title}\n\n{text}{mark}"


def counted(book: Book) -> None:
    """Who was tried, and what is missing."""
    run: Recording = book["run"]
    text = (
        f"The plan has {run.counts().planned:,} trials: {len(run.arms)} {_many(run.arms, 'arm')}, "
        f"{len(book['verdicts'].table.tasks)} {_many(book['verdicts'].table.tasks, 'task')} on record, "
        f"{len(run.perturbations)} {_many(run.perturbations, 'condition')}."
    )
    if run.plan is None:
        text += " No plan was recorded, so what is on record counts as what was planned."
    book.prose(_HEAD.format(title="What was run", mark=note("missing"), text=text))
    book.code(
        'show.table_html(standard.arm_counts(run), caption="Trials by arm, and how they ended")', name="arm-counts"
    )
    if not (run.trials["exposure"] != "none_planned").any():
        return
    book.prose("### Were planned faults met?\n\nA claim about faults stands on trials that met one.")
    book.code(
        "met = standard.fault_counts(run)\n"
        "show.figure(\n"
        "    show.exposure(met),\n"
        "    show.exposure_data(met),\n"
        '    title="Trials that were meant to meet a fault, by what became of it",\n'
        ")",
        name="exposure",
    )


def conformance(book: Book) -> None:
    """The share that did right, and how far it lies below the baseline."""
    said, run = SUCCESS[book["measure"]], book["run"]
    text = f"A success is a trial with {said}. What cannot be judged is in no share and stands beside it."
    book.prose(_HEAD.format(title="Conformance by condition", mark=note("wilson"), text=text))
    book.code("rates = show.conformance_data(run, ok, confidence=confidence)", name="rates")
    for number, some in _groups(book):
        book.code(
            f"part = {_part('rates', some)}\n"
            "show.figure(\n"
            f'    show.conformance(part, axis_title="{said}, % of decided trials"),\n'
            "    standard.worded(part),\n"
            f"    title={_title(said[0].upper() + said[1:], 'by condition', some)!r},\n"
            "    notes=[interval_note],\n"
            ")",
            name=f"conformance{number}",
        )
    if len(run.perturbations) < 2 or book["baseline"] is None:
        return
    book.prose(
        "### Change from the baseline\n\n"
        f"Every condition against {plain(book['baseline'])} of the same arm.{note('difference')}"
    )
    book.code("drops = show.drop_data(run, ok, baseline=baseline, confidence=confidence)", name="drops")
    for number, some in _groups(book):
        book.code(
            f"part = {_part('drops', some)}\n"
            "show.figure(\n"
            '    show.drop(part, axis_title="condition minus baseline, percentage points"),\n'
            "    standard.worded(part),\n"
            f"    title={_title('Change from the baseline', 'by condition', some)!r},\n"
            ")",
            name=f"drop{number}",
        )


def violations(book: Book) -> None:
    """What was broken, by rule; each violation with the step at which it is seen."""
    text = "Every rule on every trial. Columns hold trials with the same verdicts; their number stands above."
    book.prose(_HEAD.format(title="Rules and violations", mark=note("vacuous"), text=text))
    book.code(
        "matrix = show.verdict_matrix_data(verdicts, arms=run.arms)\n"
        "show.figure(\n"
        "    show.verdict_matrix(matrix),\n"
        "    standard.matrix_table(matrix),\n"
        '    title="Verdicts by rule and group of trials",\n'
        ")",
        name="matrix",
    )
    book.code(
        "show.table_html(\n"
        "    standard.rule_table(verdicts, arms=run.arms),\n"
        '    caption="Violated of decided trials, by rule and arm",\n'
        '    notes=["?: trials whose record does not say. The rest of the trials put the rule to no test."],\n'
        ")",
        name="rule-counts",
    )
    book.code("found = standard.witnesses(verdicts)", name="witnesses-found")
    if book["found"].empty:
        book.prose("### Violations\n\nNo rule of the policy is violated in any trial.")
        return
    most = 40
    left = max(0, len(book["found"]) - most)
    rest = f" {left:,} further kinds are in `standard.witnesses(verdicts)`." if left else ""
    book.prose(
        "### Violations with their witnesses\n\nThe same violation of several trials is one row; the first is named."
        f"{rest}"
    )
    book.code(
        "show.table_html(\n"
        f"    standard.witness_table(found.head({most})),\n"
        '    caption="What was violated, how often, and where it is seen first",\n'
        ")",
        name="witnesses",
    )
    one_violation(book)


def one_violation(book: Book) -> None:
    """The worst violation, step by step, beside a trial that was asked the same if there is one."""
    run: Recording = book["run"]
    book.prose("### One violation, step by step")
    book.code(
        "trial, rule = standard.worst_violation(verdicts)\nothers = standard.counterparts(run, trial)",
        name="one-violation-found",
    )
    if book["others"] and book["trial"] in set(run.steps["trial_id"]):
        other = book["others"][0]
        book.prose(f"{plain(book['trial'])} violates {plain(book['rule'])}; {plain(other)} is of the same task.")
        try:
            book.code("standard.beside(run, verdicts, trial, others[0], grade=grade)", name="one-violation")
            return
        except InputError as error:  # arguments that are no object can be listed, not compared
            book.prose(f"The two cannot be set side by side, since {plain(str(error))}.")
    book.code(
        "show.table_html(\n"
        "    standard.steps_of(run, verdicts, trial),\n"
        '    caption=f"Trial {trial}, which violates {rule}",\n'
        ")",
        name="one-violation",
    )


def consistency(book: Book) -> None:
    """Where trials leave what their arm usually does."""
    run: Recording = book["run"]
    if not len(run.steps):
        return
    text = "Each trial against the path and arguments its arm most often takes on the same task at baseline."
    book.prose(_HEAD.format(title="Where trials diverge", mark=note("divergence"), text=text))
    for arm in run.arms:
        _onset(
            book,
            f'analysis.consistency(run, arm={arm!r}, argument_rules=argument_rules, definition="plumbline")',
            title=f"{arm}: the step at which trials begin to differ from what the arm usually does",
            name=f"onset-{run.arms.index(arm)}",
        )


def compared(book: Book) -> None:
    """The other arms against the first, on the pairs that were asked the same."""
    run: Recording = book["run"]
    first = book["incumbent"]
    others = [arm for arm in run.arms if arm != first]
    if not others:
        return
    text = f"Other arms against {plain(first)}, on trials of the same task, condition, variant and repetition."
    if left := others[MOST_COMPARED:]:
        text += f" Not compared here, so that the page stays readable: {plain(', '.join(left))}."
    book.prose(_HEAD.format(title="Arms compared", mark=note("divergence"), text=text))
    for arm in others[:MOST_COMPARED]:
        number = run.arms.index(arm)
        book.code(
            f"pairs = analysis.paired_outcomes(run, {first!r}, run, {arm!r}, ok_first=ok, ok_second=ok)\n"
            "counts = show.discordance_data(pairs)\n"
            "show.figure(\n"
            "    show.discordance(counts),\n"
            "    standard.wide_counts(counts),\n"
            f"    title={f'Pairs of {first} and {arm}, task by task'!r},\n"
            "    notes=pairs.notes(),\n"
            ")",
            name=f"pairs-{number}",
        )
        if len(run.steps):
            _against(book, first, arm, number)


def missing(book: Book) -> None:
    """What missing trials leave open."""
    run: Recording = book["run"]
    if int(book["ok"].reindex(run.planned()["trial_id"]).notna().sum()) == run.counts().planned:
        return
    text = (
        "With every open trial failed the share of planned trials is at one end, with every one right at the other. "
        "The bar is not an interval of confidence: no more trials of the same kind would shorten it."
    )
    book.prose(_HEAD.format(title="What missing trials leave open", mark=note("missing"), text=text))
    book.code("ends = show.missing_ends_data(run, ok)", name="ends-data")
    for number, some in _groups(book):
        book.code(
            f"part = {_part('ends', some)}\n"
            "show.figure(\n"
            f'    show.missing_ends(part, axis_title="{SUCCESS[book["measure"]]}, % of planned trials"),\n'
            "    standard.worded(part),\n"
            f"    title={_title('All open trials fail, or all succeed', 'by condition', some)!r},\n"
            ")",
            name=f"ends{number}",
        )


def claims(book: Book) -> None:
    """What can be certified, and how many runs it would take."""
    text = "What each rule of certification makes of the same trials."
    book.prose(_HEAD.format(title="What can be claimed", mark=note("certificate"), text=text))
    for number, arm in enumerate(book["run"].arms):
        book.code(
            f"rules = decide.ladder(\n    run, arm={arm!r}, policy=policy, measure=measure, grade=grade, "
            "confidence=confidence\n)\n"
            "steps = show.certificate_ladder_data(rules)\n"
            "show.figure(\n"
            "    show.certificate_ladder(steps),\n"
            '    steps.drop(columns=["series", "low", "high"]).rename(columns={"group": "rule"}),\n'
            f"    title={f'{arm}: certified by rule'!r},\n"
            ")",
            name=f"ladder-{number}",
        )
    most = int(book["rates"]["n"].max())
    runs = max(100, min(1000, 2 * most))
    book.prose(
        "### How the bound grows with runs\n\nThe largest bound that a number of runs of one condition can give."
    )
    book.code(
        f"growth = show.bound_growth_data({runs}, confidence=confidence)\n"
        "show.figure(\n"
        '    show.bound_growth(growth, axis_title="lower bound, %"),\n'
        "    standard.bound_table(growth),\n"
        '    title="Lower bound by number of runs and failures (Clopper-Pearson, one-sided)",\n'
        '    notes=["The table shows some numbers of runs; nothing can be claimed where a cell is empty."],\n'
        ")",
        name="growth",
    )


def notes(book: Book) -> None:
    """What is not shown, and the notes."""
    book.prose("## What this run does not show")
    book.code("standard.cannot_claim(certificates, verdicts)", name="cannot")
    book.prose(f"## Notes\n\n{notes_html()}")


SECTIONS: tuple[Callable[[Book], None], ...] = (
    counted, conformance, violations, consistency, compared, missing, claims, notes,
)  # fmt: skip


def _onset(book: Book, made: str, *, title: str, name: str) -> None:
    source = f"compared = {made}\nonset = show.divergence_onset_data(compared)"
    try:
        book.code(source, name=f"{name}-data")
    except InputError as error:
        book.prose(f"{plain(title)}: cannot tell, since {plain(str(error))}.")
        return
    onset = book["onset"]
    if not onset.loc[onset["position"].notna() | (onset["group"] == "outcome alone"), "trials"].any():
        book.prose(f"{plain(title)}: none of {int(onset['planned'].max()):,} trials differs.")
        return
    book.code(
        "show.figure(\n"
        "    show.divergence_onset(onset),\n"
        "    standard.wide_counts(onset),\n"
        f"    title={title!r},\n"
        "    notes=[standard.onset_note(onset)],\n"
        ")",
        name=name,
    )


def _against(book: Book, first: str, arm: str, number: int) -> None:
    made = (
        f"analysis.equivalence(\n    run, incumbent={first!r}, replacement={arm!r}, argument_rules=argument_rules, "
        'definition="plumbline"\n)'
    )
    title = f"{arm} against {first}: the step at which trials begin to differ"
    _onset(book, made, title=title, name=f"against-{number}")
    source = (
        "agree = show.argument_agreement_data(standard.aligned_calls(run, compared, argument_rules))\n"
        "show.figure(\n"
        '    show.argument_agreement(agree, axis_title="calls with the same argument, % of aligned calls"),\n'
        '    agree.drop(columns=["group", "series", "low", "high"]),\n'
        f"    title={f'{arm} against {first}: arguments of aligned calls, by tool and field'!r},\n"
        '    notes=["Calls of one trial are not independent, so there is no interval."],\n'
        ")"
    )
    try:
        book.code(source, name=f"arguments-{number}")
    except InputError as error:
        book.prose(f"{plain(f'{arm} against {first}')}: arguments cannot be compared, since {plain(str(error))}.")


def _groups(book: Book) -> list[tuple[str, Sequence[str]]]:
    """Arms as they share a figure: all of them, or a few at a time; with what to add to the name of a cell."""
    arms = book["run"].arms
    if len(arms) <= ARMS_A_FIGURE:
        return [("", ())]
    return [(f"-{start}", arms[start : start + ARMS_A_FIGURE]) for start in range(0, len(arms), ARMS_A_FIGURE)]


def _part(frame: str, arms: Sequence[str]) -> str:
    return f'{frame}[{frame}["series"].isin({list(arms)!r})]' if arms else frame


def _title(what: str, how: str, arms: Sequence[str]) -> str:
    return f"{what}, {how}" + (f": {', '.join(arms)}" if arms else "")


def _many(things: Sequence[object], one: str) -> str:
    return one if len(things) == 1 else f"{one}s"
