"""Waivers: each refusal by its name, never a pass, early warnings, staggered expiry, and what recurs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.base.errors import ApprovalError, BandError
from plumbline.decide.approvals import (
    Waiver,
    accepted,
    case_digest,
    done,
    expiring,
    free_day,
    lay_waivers,
    read_waivers,
    record_decision,
    recurring,
    review,
)
from plumbline.decide.approvals.waiving import waive
from plumbline.decide.bands import BandFile
from plumbline.decide.evidence import digest_of
from plumbline.traces import Recording
from tests.decide.governing import KEYS, NOW, book_in, started, version

TODAY = NOW.date()
CASE = digest_of("case")


def values(**changed):
    bands = version()
    return {
        "fixture": "INV-1", "field": "tokens", "measured": 1.6, "bands": bands.digest, "version": 1, "case": CASE,
        "reason": "the new prompt explains itself", "link": "pull/7", "author": "ana", "approver": "rita",
        "given": TODAY, "expires": TODAY + timedelta(days=14), "scope": "main", "evidence": {"diff": digest_of("diff")},
    } | changed  # fmt: skip


def waiver(sign: bool = True, **changed) -> Waiver:
    made = Waiver.model_validate(values(**changed))
    return made.signed(KEYS["rita"]) if sign else made


AT_HAND = {
    "now": NOW, "bands": version().digest, "case": CASE, "measured": 1.6, "worse": "higher", "link": "pull/7",
    "scope": "main",
}  # fmt: skip
OTHER = digest_of("other")


@pytest.mark.parametrize(
    ("changed", "at_hand", "refusal", "said"),
    [
        ({}, {"now": NOW + timedelta(days=15)}, "expired", "expired 2026-09-15; mend the failure"),
        ({}, {"bands": OTHER}, "stale", "look at the case under the new band"),
        ({}, {"case": OTHER}, "stale", "the case changed: look at it again"),
        ({}, {"measured": 1.7}, "stale", "is of a measured 1.6, now it is 1.7; it became worse"),
        ({"measured": "another key"}, {"measured": "a third key"}, "stale", "it became worse"),
        ({"fixture": "INV-*"}, {}, "over_broad", "has fixture 'INV-*'; name one fixture"),
        ({"field": "all"}, {}, "over_broad", "has field 'all'; name one field"),
        ({"expires": date(2026, 11, 30)}, {}, "over_broad", "at most 30 are allowed: expires: 2026-10-01"),
        ({"author": "rita"}, {}, "self_approved", "was asked for and approved by rita; ask somebody else"),
        ({}, {"link": "pull/8"}, "reused", "was given for pull/7, not for pull/8"),
        ({}, {"scope": "release"}, "reused", "holds in main, not in release"),
        ({"given": TODAY + timedelta(days=2)}, {}, "future_date", "was given 2026-09-03, today is 2026-09-01"),
        ({"approver": "otto"}, {}, "wrong_role", "otto is agent_owner, not reviewer or platform_owner"),
        ({"approver": "eve"}, {}, "unknown_person", "'eve' is not among the people"),
        ({"approver": "pat"}, {}, "bad_signature", "is not signed by pat as it stands"),
    ],
)  # fmt: skip
def test_a_waiver_that_does_not_hold_is_refused_by_name(tmp_path, changed, at_hand, refusal, said):
    people = book_in(tmp_path).people
    with pytest.raises(ApprovalError) as refused:
        accepted(waiver(**changed), people, **(AT_HAND | at_hand))
    assert refused.value.refusal == refusal
    assert said in str(refused.value)


def test_a_waiver_holds_for_what_it_was_given_for(tmp_path):
    people = book_in(tmp_path).people
    one = waiver()
    assert accepted(one, people, **AT_HAND) is one
    assert accepted(one, people, **(AT_HAND | {"measured": 1.5})) is one, "better than waived"
    assert accepted(waiver(measured=0.8), people, **(AT_HAND | {"measured": 0.85, "worse": "lower"}))
    with pytest.raises(ApprovalError, match="unsigned"):
        accepted(waiver(sign=False), people, **AT_HAND)
    twin = waiver(fixture="INV-2")
    with pytest.raises(ApprovalError, match=r"reused: .* rests on evidence that already backs INV-2 tokens"):
        accepted(one, people, others=[one, twin], **AT_HAND)
    with pytest.raises(ApprovalError, match="bad signature"):
        accepted(one.model_copy(update={"reason": "another reason altogether"}), people, **AT_HAND)


def test_a_file_of_waivers_is_read_with_lines(tmp_path):
    people, file = book_in(tmp_path).people, tmp_path / "waivers.yaml"
    assert read_waivers(file, today=TODAY) == ()
    given = {k: v for k, v in values().items() if k != "expires"}
    for i in range(2):
        one = given | {"fixture": f"INV-{i}", "evidence": {"diff": digest_of(i)}}
        waive(file, people, values=one, wanted=TODAY + timedelta(days=14), now=NOW, key=KEYS["rita"])
    found = read_waivers(file, today=TODAY)
    assert [one.fixture for one in found] == ["INV-0", "INV-1"]
    assert all(accepted(one, people, **AT_HAND) for one in found), "what was written is what was signed"
    text = file.read_text()
    assert text.startswith("# Failures that are known and let through")
    second = text.splitlines().index("  - fixture: INV-1") + 1
    for old, new, said in [
        ("fixture: INV-1", "fixture: INV-0", rf"line {second}, waivers.1.: duplicate of line 4: INV-0 tokens in main"),
        ("fixture: INV-1", "fixtur: INV-1", rf"line {second}, .* key 'fixtur' is not known; write 'fixture'"),
        ("given: 2026-09-01", "given: 2026-09-02", r"line 4, .*given 2026-09-02 lies in the future"),
        ("field: tokens", "field: token", r"line 4, waivers\[0\]: field 'token'; choose one of text"),
        ("expires: 2026-09-15", "expires: 2026-09-01", "does not lie after given"),
        ("reason: the new", "reasons: the new", "the key 'reasons' is not known"),
    ]:  # fmt: skip
        file.write_text(text.replace(old, new))
        with pytest.raises(BandError, match=said):
            read_waivers(file, today=TODAY)
    file.write_text(text.replace("waivers:\n", "waivers:  # ours\n"))
    three = given | {"fixture": "INV-3", "evidence": {"diff": OTHER}}
    waive(file, people, values=three, wanted=TODAY + timedelta(days=14), now=NOW, key=KEYS["rita"])
    assert "# ours" in file.read_text()


def test_what_could_never_hold_is_not_written(tmp_path):
    people, file = book_in(tmp_path).people, tmp_path / "waivers.yaml"
    given = {k: v for k, v in values().items() if k != "expires"}
    wanted = TODAY + timedelta(days=14)
    with pytest.raises(ApprovalError, match="over broad"):
        waive(file, people, values=given | {"fixture": "*"}, wanted=wanted, now=NOW, key=KEYS["rita"])
    with pytest.raises(BandError, match=r"evidence: .*at least 1 item"):
        waive(file, people, values=given | {"evidence": {}}, wanted=wanted, now=NOW, key=KEYS["rita"])
    assert not file.exists()
    waive(file, people, values=given, wanted=wanted, now=NOW, key=KEYS["rita"])
    before = file.read_text()
    with pytest.raises(ApprovalError, match="duplicate: INV-1 tokens is waived in main until 2026-09-15"):
        waive(file, people, values=given | {"evidence": {"d": OTHER}}, wanted=wanted, now=NOW, key=KEYS["rita"])
    assert file.read_text() == before


@given(st.lists(st.integers(1, 14), max_size=20))
def test_no_day_turns_everything_red_at_once(days):
    """However waivers are asked for, no more than three end on one day, and none lives longer than wanted."""
    there: list[Waiver] = []
    for i, day in enumerate(days):
        wanted = TODAY + timedelta(days=day)
        if sum(one.expires <= wanted for one in there) == 3 * day:
            with pytest.raises(ApprovalError, match="crowded"):
                free_day(wanted, there, given=TODAY)
            continue
        free = free_day(wanted, there, given=TODAY)
        assert TODAY < free <= wanted
        there.append(waiver(sign=False, fixture=f"F{i}", expires=free))
    ends = [one.expires for one in there]
    assert max((ends.count(day) for day in ends), default=0) <= 3


def test_expiry_warns_early():
    soon, late = waiver(expires=TODAY + timedelta(days=5)), waiver(fixture="B", expires=TODAY + timedelta(days=20))
    assert expiring([late, soon], now=NOW) == ("INV-1 tokens expires in 5 days, on 2026-09-06: tell ana",)
    crowd = [waiver(fixture=f"F{i}", expires=TODAY + timedelta(days=20)) for i in range(4)]
    assert expiring(crowd, now=NOW) == ("4 waivers expire on 2026-09-21, at most 3 should: renew some for another day",)


def test_what_is_waived_again_and_again_is_a_candidate():
    several = [waiver(fixture=f"F{i}", link=f"pull/{i}") for i in range(2)] + [
        waiver(link=f"pull/{i}") for i in range(3)
    ]
    rows = recurring(several).to_dict("records")
    assert rows == [
        {"field": "tokens", "fixture": "(several)", "waivers": 5, "changes": 3, "fixtures": 3},
        {"field": "tokens", "fixture": "INV-1", "waivers": 3, "changes": 3, "fixtures": 1},
    ]
    assert recurring([]).empty


@dataclass(frozen=True)
class Row:
    fixture: str
    field: str
    verdict: str
    value: float | None
    unit: str = "x"
    note: str = "above 1.4x"
    evidence: str = ""


@dataclass(frozen=True)
class Report:
    """As much of a report as waivers touch."""

    bands: BandFile
    baseline: Recording
    baseline_arm: str
    rows: tuple[Row, ...]

    def waive(self, waived):
        rows = [replace(r, verdict="waived") if (r.fixture, r.field) in waived else r for r in self.rows]
        return replace(self, rows=tuple(rows))


def test_a_waived_failure_never_shows_as_a_pass(tmp_path):
    trials = pd.DataFrame({"arm": ["old", "old", "new"], "task_id": ["INV-1", "INV-2", "INV-1"]})
    run = Recording(trials, run_id="r", tasks={"INV-1": {"context": {"a": 1}}})
    rows = [
        Row("INV-1", "tokens", "fail", 1.6),
        Row("INV-2", "tokens", "fail", 1.9),
        Row("INV-3", "tokens", "pass", 1.0),
    ]
    report = Report(version(), run, "old", tuple(rows))
    case = case_digest(run, "INV-1", arm="old")
    people = book_in(tmp_path).people
    given = [
        waiver(case=case),
        waiver(fixture="INV-2", case=case, evidence={"d": OTHER}),
        waiver(fixture="INV-3", evidence={"d": digest_of("third")}),
    ]
    laid = lay_waivers(report, given, people, now=NOW, link="pull/7", scope="main")
    assert [row.verdict for row in laid.report.rows] == ["waived", "fail", "pass"]
    assert [(error.refusal) for _, error in laid.refused] == ["stale"]
    assert [one.fixture for one in laid.idle] == ["INV-3"]
    assert "waived, still a failure: INV-1 tokens 1.6 waived until 2026-09-15 by rita for pull/7" in str(laid)
    assert laid.to_frame()["state"].tolist() == ["holds", "refused", "idle"]
    nothing = lay_waivers(report, given, people, now=NOW, link="pull/7", scope="other")
    assert [row.verdict for row in nothing.report.rows] == ["fail", "fail", "pass"]


def test_a_case_is_its_task_and_the_trials_of_the_incumbent():
    trials = pd.DataFrame({"arm": ["old", "new"], "task_id": ["t", "t"], "latency_ms": [1.0, 2.0]})
    one = Recording(trials, run_id="r", tasks={"t": {"context": {"a": 1}}})
    slower = Recording(trials.assign(latency_ms=[1.0, 9.0]), run_id="r", tasks=one.tasks)
    other = Recording(trials, run_id="r", tasks={"t": {"context": {"a": 2}}})
    moved = Recording(trials.assign(latency_ms=[7.0, 2.0]), run_id="r", tasks=one.tasks)
    first = case_digest(one, "t", arm="old")
    assert case_digest(slower, "t", arm="old") == first, "the candidate may be run again"
    assert first not in {case_digest(other, "t", arm="old"), case_digest(moved, "t", arm="old")}
    assert case_digest(one, "(suite)", arm="old") != first


def test_reviews_say_what_is_due_and_what_to_look_at(tmp_path):
    book = started(tmp_path)
    held = waiver(expires=TODAY + timedelta(days=5))
    waivers = [held, *(waiver(fixture=f"F{i}", link=f"pull/{i}") for i in range(3))]
    asked = {"bands": version().digest, "fixtures": 20}
    record_decision(book, request=asked, decision="ship", now=NOW + timedelta(hours=1), waived=[held.digest])
    early = review(book, waivers, now=NOW + timedelta(days=2))
    assert early.overdue == ()
    assert {one.kind: one.due for one in early.due} == {
        "skim": date(2026, 9, 8), "recalibration": date(2026, 10, 1), "sample_size": date(2026, 12, 1),
    }  # fmt: skip
    late = review(book, waivers, now=NOW + timedelta(days=100))
    assert late.overdue == ("skim", "recalibration", "sample_size")
    skim, calibration, sample = (one.content for one in early.due)
    assert skim[0] == "1 decisions since then, 1 waivers held in them"
    assert skim[1].startswith("waived, still a failure: INV-1 tokens")
    assert "INV-1 tokens expires in 3 days" in " ".join(skim)
    assert calibration[0] == "version 1 was never calibrated; its thresholds are numbers to start from"
    assert calibration[1] == "candidate for a change: tokens of (several), waived 4 times for 4 changes"
    assert sample[0] == "1 decisions over 20 to 20 fixtures; 20 without a failure show 0.861"
    assert sample[1] == "to show 0.95 without a failure takes 59 fixtures"
    done(book, "skim", by="rita", note="two prompts to mend", now=NOW + timedelta(days=8))
    after = review(book, waivers, now=NOW + timedelta(days=9))
    assert after.due[0].last == date(2026, 9, 9)
    assert not after.due[0].overdue
    assert after.due[0].content[0] == "0 decisions since then, 0 waivers held in them"
    assert "weekly skim of waived failures: due 2026-09-16, last 2026-09-09" in str(after)
    assert after.to_frame()["kind"].tolist() == ["skim", "recalibration", "sample_size"]
