"""plumbline bands approve|rebaseline|keep|waive|review|log|at, from the first version to a date years later."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from plumbline.cli import main
from plumbline.decide.approvals import case_digest, read_waivers
from plumbline.decide.bands import apply_bands, example_runs
from plumbline.traces import Recording
from tests.decide.governing import NOW, book_in, private, version

DAY = "2026-09-01"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book_in(tmp_path)
    for name in ("ana", "pat", "rita"):
        private(name, tmp_path)
    (tmp_path / "bands.yaml").write_text(version().text)
    return tmp_path


def bands(capsys, *words: str, day: str | None = DAY) -> tuple[int, str, str]:
    now = () if day is None else ("--now", day)
    try:
        code = main(["bands", *words, *now])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def by(name: str, reason: str = "agreed in the meeting", author: str = "ana") -> tuple[str, ...]:
    return "--as", name, "--author", author, "--key", f"{name}.key", "--reason", reason


def test_a_version_comes_into_force_when_everyone_has_approved(place, capsys):
    code, out, _ = bands(capsys, "approve", "bands.yaml", *by("pat"))
    assert code == 0
    assert "version 1 is approved, sha256:" in out
    assert "SSH signature by the approver's key" in out
    text = version().text.replace("version: 1", "version: 2").replace("at_most: 1.5x", "at_most: 2x")
    (place / "bands.yaml").write_text(text.replace("pass: {at_least: 0.92}", "pass: {at_least: 0.9}"))
    code, out, _ = bands(capsys, "approve", "bands.yaml", *by("rita"), day="2026-09-02")
    assert code == 3
    assert "looser: latency pass.at_most: 1.5x -> 2x (needs the platform owner)" in out
    assert "not yet in force: missing approval: version 2 lacks platform_owner" in out
    code, out, _ = bands(capsys, "approve", "bands.yaml", *by("pat"), "--json", day="2026-09-03")
    assert code == 0
    found = json.loads(out)
    assert found["adopted"]
    assert {one["way"] for one in found["changes"]} == {"looser"}
    code, out, _ = bands(capsys, "at", "2026-09-02", day=None)
    assert "bands version 1 were in force" in out
    code, out, _ = bands(capsys, "at", "2030-01-01", "--json", day=None)
    assert json.loads(out)["version"] == 2
    code, out, _ = bands(capsys, "log")
    assert [line.split()[1] for line in out.splitlines()].count("version") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (by("ana", author="ana"), "wrong role: ana is agent_owner, not platform_owner; ask pat"),
        (by("pat", author="pat"), "self approved: the approval by pat"),
        (("--as", "pat", "--author", "ana", "--reason", "agreed in the meeting"), "unsigned: the approval by pat"),
        (("--as", "pat", "--author", "ana", "--key", "rita.key", "--reason", "agreed in it"), "bad signature: the"),
        (by("pat", reason="ok"), "no reason: the reason is 'ok'; write one line"),
        (("--as", "pat", "--author", "ana", "--key", "no.key", "--reason", "agreed"), "there is no key no.key"),
        (("--book", "nowhere", *by("pat")), "there is no book nowhere; make the folder"),
        (("--role", "king", *by("pat")), "choose from bands"),
    ],
)  # fmt: skip
def test_a_mistake_is_a_sentence(place, capsys, words, said):
    code, _, err = bands(capsys, "approve", "bands.yaml", *words)
    assert code == 2
    assert said in err


def test_a_band_file_of_tomorrow_is_refused_with_its_line(place, capsys):
    code, _, err = bands(capsys, "approve", "bands.yaml", *by("pat"), day="2026-07-01")
    assert code == 2
    assert "bands.yaml, line 7, created: 2026-08-01 lies in the future" in err
    (place / "bands.yaml").write_text(version().text.replace("at_most: 1.5x", "at_most: 1.5s"))
    code, _, err = bands(capsys, "approve", "bands.yaml", *by("pat"))
    assert code == 2
    assert "latency" in err
    assert "line" in err


def test_a_waiver_is_written_and_stays_a_failure(place, capsys):
    bands(capsys, "approve", "bands.yaml", *by("pat"))
    run = Recording(pd.DataFrame({"arm": ["old"], "task_id": ["INV-1"]}), run_id="base")
    run.save(place / "base")
    (place / "diff.html").write_text("<p>two traces</p>")
    asked = ("waive", "INV-1", "tokens", "--measured", "1.6x", "--baseline", "base", "--link", "pull/7")
    asked = (*asked, "--scope", "main", *by("rita", "the prompt explains itself"))
    code, out, _ = bands(capsys, *asked, "--evidence", "diff=diff.html")
    assert code == 0
    assert "it stays a failure and shows as one" in out
    one = read_waivers(place / "bands.book" / "waivers.yaml", today=NOW.date())[0]
    assert (one.measured, one.case, str(one.expires)) == (1.6, case_digest(run, "INV-1", arm="old"), "2026-09-15")
    code, _, err = bands(capsys, *asked, "--evidence", "diff=diff.html")
    assert code == 2
    assert "duplicate: INV-1 tokens is waived in main until 2026-09-15" in err
    code, _, err = bands(capsys, *asked, "--evidence", "diff=none.html")
    assert "--evidence diff: there is no file none.html" in err
    code, _, err = bands(capsys, *asked, "--evidence", "diff")
    assert "write NAME=FILE" in err
    code, _, err = bands(capsys, *asked, "--evidence", "diff=diff.html", "--expires", "2027-01-01")
    assert "over broad" in err or "duplicate" in err
    code, out, _ = bands(capsys, "review", day="2026-09-10")
    assert code == 0
    assert "INV-1 tokens expires in 5 days, on 2026-09-15: tell ana" in out
    assert "weekly skim of waived failures: due now, never done" in out
    code, out, _ = bands(
        capsys, "review", "--done", "skim", "--as", "rita", "--note", "one prompt to mend", day="2026-09-10"
    )
    assert "weekly skim of waived failures: due 2026-09-17, last 2026-09-10" in out
    code, _, err = bands(capsys, "review", "--done", "skim")
    assert "--done needs --as NAME" in err


def test_texts_and_prompts_are_approved_by_who_saw_them(place, capsys):
    (place / "old.txt").write_text("Paid.")
    (place / "new.txt").write_text("Paid today.")
    code, out, _ = bands(capsys, "rebaseline", "INV-1", "old.txt", "new.txt", *by("rita", "the day is said on purpose"))
    assert code == 0
    assert "rita (reviewer) approved rebaseline INV-1" in out
    code, _, err = bands(capsys, "rebaseline", "INV-1", "old.txt", "new.txt", *by("pat", "the day is said on purpose"))
    assert code == 2
    assert "pat is platform_owner, not reviewer; ask rita" in err
    code, out, _ = bands(capsys, "keep", "prompt", "system", "old.txt", *by("rita", "the first prompt of the agent"))
    assert "prompt system version 1: sha256:" in out
    code, out, _ = bands(capsys, "at", "2026-09-02", day=None)
    assert "prompt system: sha256:" in out
    assert "no bands were in force" in out


def test_a_date_that_is_none_is_refused(place, capsys):
    code, _, err = bands(capsys, "at", "yesterday", day=None)
    assert code == 2
    assert "DATE is 'yesterday'; write a day as 2026-08-01 or a time with its zone" in err
    code, _, err = bands(capsys, "at", "2026-09-01", "--request", "sha256:00", day=None)
    assert code == 3
    assert "0 decisions on a request 'sha256:00'" in err


def test_a_check_lays_waivers_on_the_report_and_writes_the_decision_down(place, capsys):
    bands(capsys, "approve", "bands.yaml", *by("pat"))
    before, after = example_runs(seed=3, fixtures=100)
    before.save(place / "before")
    after.save(place / "after")
    failed = apply_bands(version(), baseline=before, candidate=after).to_frame().query("verdict == 'fail'")
    row = failed[failed["field"] == "tokens"].iloc[0]
    (place / "diff.html").write_text("<p>two traces</p>")
    arm = before.arms[0]
    code, _, err = bands(
        capsys, "waive", row["fixture"], "tokens", "--measured", repr(float(row["value"])), "--baseline", "before",
        "--arm", arm, "--link", "pull/7", "--scope", "main", "--evidence", "diff=diff.html",
        *by("rita", "the prompt explains itself"),
    )  # fmt: skip
    assert code == 0, err
    check = ("check", "bands.yaml", "--baseline", "before", "--candidate", "after", "--book", "bands.book")
    code, out, err = bands(
        capsys, *check, "--link", "pull/7", "--scope", "main", "--today", "2026-09-02", "--json", day=None
    )
    assert code == 1, "the write before its read is not waived"
    assert "1 waived, 0 waivers refused, 0 idle" in err
    shown = json.loads(out)
    mine = [one for one in shown["moved"] if (one["fixture"], one["field"]) == (row["fixture"], "tokens")]
    assert [one["verdict"] for one in mine] == ["waived"], "a waived failure is no pass"
    request = err.split("request ")[1].strip()
    code, out, _ = bands(capsys, "at", "2030-01-01", "--request", request[:30], day=None)
    assert f"decision hold on request {request}" in out
    assert "judged by bands version 1, 1 waived" in out
    code, out, err = bands(capsys, *check, "--link", "pull/8", "--scope", "main", "--today", "2026-09-03", day=None)
    assert "refused: reused: the waiver of" in err
    code, out, err = bands(capsys, *check, "--today", "2026-09-02", day=None)
    assert code == 2
    assert "--book needs --link CHANGE and --scope BRANCH" in err
    (place / "bands.yaml").write_text(version().text.replace("at_most: 1.5x", "at_most: 2x"))
    code, _, err = bands(capsys, *check, "--link", "p", "--scope", "main", "--today", "2026-09-02", day=None)
    assert code == 2
    assert "not in force: the request was judged by" in err


def test_a_failure_without_a_number_is_waived_from_the_report(place, capsys):
    bands(capsys, "approve", "bands.yaml", *by("pat"))
    before, after = example_runs(seed=3, fixtures=100)
    before.save(place / "before")
    after.save(place / "after")
    check = ("check", "bands.yaml", "--baseline", "before", "--candidate", "after", "--today", "2026-09-02", "--json")
    code, out, _ = bands(capsys, *check, day=None)
    assert code == 1
    (place / "report.json").write_text(out)
    fixture = next(
        one["fixture"] for one in json.loads(out)["moved"] if one["field"] == "order" and one["verdict"] == "fail"
    )
    waive = ("waive", fixture, "order", "--baseline", "before", "--arm", before.arms[0], "--link", "pull/7")
    waive = (*waive, "--scope", "main", "--evidence", "report=report.json", *by("rita", "the vendor is known by then"))
    code, _, err = bands(capsys, *waive, "--report", "report.json")
    assert code == 0, err
    book = ("--book", "bands.book", "--link", "pull/7", "--scope", "main")
    code, out, err = bands(capsys, *check, *book, day=None)
    assert "1 waived, 0 waivers refused" in err
    assert code == 3, "nothing blocks any more; the grey zone is for a reviewer"
    code, _, err = bands(capsys, *waive[:1], "nothing", *waive[2:], "--report", "report.json")
    assert "nothing order does not fail; waive what fails" in err
    code, _, err = bands(capsys, *waive)
    assert "give --measured VALUE or --report FILE" in err
    code, _, err = bands(capsys, *waive, "--report", "bands.yaml")
    assert "is not what `plumbline bands check --json` prints" in err


def test_a_book_without_people_shows_how_to_write_them(place, capsys):
    (place / "bands.book" / "people.yaml").unlink()
    code, _, err = bands(capsys, "approve", "bands.yaml", *by("pat"))
    assert code == 2
    assert "ana: {roles: [agent_owner], key: ssh-ed25519" in err
