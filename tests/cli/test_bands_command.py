"""``plumbline bands``: a file to start from, verdicts of two runs, what moved between two versions."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from plumbline.cli import main
from plumbline.decide.bands import bands_schema, example_runs, load_bands, sample_bands
from plumbline.traces import write_run


def run(capsys, *words: object) -> tuple[int, str, str]:
    try:
        code = main(["bands", *(str(word) for word in words)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bands")
    baseline, candidate = example_runs(seed=4, fixtures=100)
    write_run(baseline, folder / "old")
    write_run(candidate, folder / "new")
    (folder / "bands.yaml").write_text(sample_bands().text)
    return folder


def test_init_writes_a_file_once(capsys, tmp_path):
    path = tmp_path / "bands.yaml"
    words = ("init", path, "--owner", "ann", "--approver", "bo", "--today", "2026-10-05")
    assert run(capsys, *words)[0] == 0
    bands = load_bands(path)
    assert (bands.owner, bands.approver, str(bands.created)) == ("ann", "bo", "2026-10-05")
    assert "# the grey zone: a reviewer reads these" in path.read_text()
    code, _, err = run(capsys, *words)
    assert (code, "is there already; nothing was written" in err) == (2, True)
    other = ("init", tmp_path / "b.yaml", "--owner", "ann", "--approver", "ann")
    code, _, err = run(capsys, *other)
    assert (code, "nobody approves a band of their own" in err) == (2, True)
    assert not (tmp_path / "b.yaml").exists()
    assert run(capsys, "init", tmp_path / "no" / "b.yaml", "--owner", "a", "--approver", "b")[0] == 2


def test_check_of_a_file_alone(capsys, runs, tmp_path):
    code, out, _ = run(capsys, "check", runs / "bands.yaml")
    assert code == 0
    assert "text       pass at least 0.92; warn at least 0.85 [block]" in out
    assert json.loads(run(capsys, "check", runs / "bands.yaml", "--json")[1])["version"] == 1
    wrong = tmp_path / "bands.yaml"
    wrong.write_text(sample_bands().text.replace("1.5x", "1.5 s"))
    code, _, err = run(capsys, "check", wrong)
    assert code == 2
    assert f"{wrong}, line 61, rules.latency.pass.at_most: found '1.5 s'; write a ratio" in err
    code, _, err = run(capsys, "check", runs / "bands.yaml", "--today", "2026-01-01")
    assert (code, "lies in the future (today is 2026-01-01)" in err) == (2, True)
    assert run(capsys, "check", runs / "bands.yaml", "--today", "soon")[0] == 2
    assert run(capsys, "check", runs / "bands.yaml", "--baseline", runs / "old")[0] == 2


def test_check_of_two_runs(capsys, runs, tmp_path):
    written = ("--junit", tmp_path / "j.xml", "--markdown", tmp_path / "s.md", "--cache", tmp_path / "scores")
    words = ("check", runs / "bands.yaml", "--baseline", runs / "old", "--candidate", runs / "new")
    code, out, _ = run(capsys, *words, *written)
    assert code == 1
    assert out.startswith("HOLD: candidate (constructed_candidate) against incumbent")
    assert "what moved: 90 of 701 rows" in out
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("failures") == "1"
    assert (tmp_path / "s.md").read_text().startswith("## Hold: candidate against incumbent")
    kept = json.loads((tmp_path / "scores" / "scores-lexical-indel-1.json").read_text())
    assert len(kept) == 200
    body = json.loads(run(capsys, *words, "--json")[1])
    assert (body["decision"], len(body["moved"]), body["fixtures"]) == ("hold", 90, 100)
    code, _, err = run(capsys, *words, "--candidate-arm", "nobody")
    assert (code, "has no arm 'nobody'; it has candidate" in err) == (2, True)


def test_diff_says_which_way(capsys, runs, tmp_path):
    after = tmp_path / "after.yaml"
    after.write_text(
        sample_bands().text.replace("{at_least: 0.92}", "{at_least: 0.9}").replace("at_most: 1.4x", "at_most: 1.3x")
    )
    code, out, _ = run(capsys, "diff", runs / "bands.yaml", after)
    assert code == 0
    assert "looser     text pass.at_least: 0.92 → 0.9" in out
    assert "tighter    tokens pass.at_most: 1.4x → 1.3x" in out
    body = json.loads(run(capsys, "diff", runs / "bands.yaml", after, "--json")[1])
    assert body["way"] == "mixed"
    assert "no setting moved" in run(capsys, "diff", after, after)[1]


def test_the_schema_is_printed(capsys):
    assert json.loads(run(capsys, "schema")[1]) == bands_schema()
