"""The blind sheet goes out without the guard's verdict and comes back with people's, beside it."""

from __future__ import annotations

import csv
import json

import pytest
from scipy.stats import beta

from plumbline.base.errors import DigestError, InputError, NotFoundError, ParameterError
from plumbline.rules import TaskView, baseline, export_review, make_variants, paraphrase, read_review

GOOD = [
    f"{word} cancel {{no}}." for word in ("Do", "Kindly", "Could you", "We ask you to", "Please do", "Be so good and")
]
BAD = [f"Do not {word} cancel {{no}}." for word in ("ever", "yet", "even", "quite", "fully", "really")]
TASKS = [TaskView(id=name, prompt=f"Cancel {name}.", slots={"no": name}) for name in ("A-1", "A-2", "A-3")]
SETS = [make_variants(t, entry, 12, seed=7) for t in TASKS for entry in (paraphrase(GOOD + BAD), baseline())]


def export(folder, **more):
    sheet, key = folder / "sheet.csv", folder / "key.json"
    return export_review(TASKS, SETS, sheet=sheet, key=key, seed=more.pop("seed", 7), **more), sheet, key


def rows(sheet):
    with sheet.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fill(sheet, name, answer):
    """Fill a copy of the sheet in; ``answer`` takes the row's number and the row."""
    filled = [row | {"same": answer(n, row)} for n, row in enumerate(rows(sheet))]
    path = sheet.with_name(f"{name}.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(filled[0]))
        writer.writeheader()
        writer.writerows(filled)
    return path


def test_the_sheet_gives_nothing_away(tmp_path):
    count, sheet, key = export(tmp_path, accepted=10, others=8)
    given = rows(sheet)
    assert count == len(given) == 18
    assert list(given[0]) == ["item", "original", "rewrite", "same", "comment"]
    text = sheet.read_text()
    assert not [word for word in ("accepted", "rejected", "negation", "paraphrase", "sha256") if word in text]
    verdicts = [each["verdict"] for each in json.loads(key.read_text())["items"]]
    assert sorted(verdicts) == ["accepted"] * 10 + ["rejected"] * 8
    assert verdicts != sorted(verdicts), "items stand in random order"
    assert json.loads(key.read_text())["strata"] == {
        "accepted": {"there": 18, "drawn": 10}, "others": {"there": 18, "drawn": 8},
    }  # fmt: skip


def test_the_sample_depends_on_the_seed_alone(tmp_path):
    made = []
    for number, seed in enumerate((7, 7, 8)):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, sheet, key = export(folder, seed=seed, accepted=10, others=8)
        made.append((sheet.read_text(), key.read_text()))
    assert made[0] == made[1] != made[2]


def test_answers_come_back_beside_the_verdicts_with_exact_intervals(tmp_path):
    _, sheet, key = export(tmp_path, accepted=18, others=18)
    truth = {row["item"]: "no" if "not" in row["rewrite"] else "yes" for row in rows(sheet)}
    ann = fill(sheet, "ann", lambda n, row: truth[row["item"]])
    ben = fill(sheet, "ben", lambda n, row: ("No ", "UNSURE", "")[n] if n < 3 else truth[row["item"]])
    review = read_review({"ann": ann, "ben": ben}, key=key)
    found = review.false_accept("ann")
    assert (found.successes, found.n, found.low) == (0, 18, 0.0)
    assert found.high == pytest.approx(beta.ppf(0.975, 1, 18))
    assert (review.false_reject("ann").successes, review.false_reject("ann").n) == (0, 18)
    decided = review.false_accept("ben").n + review.false_reject("ben").n
    assert decided == 34
    assert any(
        "unsure or not answered" in c
        for name in ("false_accept", "false_reject")
        for c in getattr(review, name)("ben").caution
    )
    table, equal = review.agreement("ann", "ben")
    assert int(table.to_numpy().sum()) == equal.n == 35
    first = truth[rows(sheet)[0]["item"]]
    assert equal.successes == 33 + (first == "no")
    assert table.loc[:, "unsure"].sum() == 1
    assert "reviewers ann, ben" in str(review)


def test_a_wrong_guard_is_shown_wrong(tmp_path):
    _, sheet, key = export(tmp_path, accepted=18, others=18)
    contrary = fill(sheet, "eve", lambda n, row: "yes" if "not" in row["rewrite"] else "no")
    review = read_review({"eve": contrary}, key=key)
    assert review.false_accept("eve").value == review.false_reject("eve").value == 1.0


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda row: row | {"same": "perhaps"}, InputError, "is no answer"),
        (lambda row: row | {"rewrite": row["rewrite"] + "!"}, DigestError, "not those that were written"),
        (lambda row: row | {"item": "r999"}, DigestError, "unknown \\['r999'\\]"),
    ],
)
def test_a_sheet_that_was_tampered_with_is_refused(tmp_path, change, error, said):
    _, sheet, key = export(tmp_path)
    given = rows(sheet)
    given[2] = change(given[2])
    path = tmp_path / "bad.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(given[0]))
        writer.writeheader()
        writer.writerows(given)
    with pytest.raises(error, match=said):
        read_review({"ann": path}, key=key)


def test_requests_that_cannot_be_honoured_raise(tmp_path):
    _, sheet, key = export(tmp_path)
    both = {"sheet": tmp_path / "s.csv", "key": tmp_path / "k.json", "seed": 7}
    with pytest.raises(ParameterError, match="must not get the key"):
        export_review(TASKS, SETS, sheet=sheet, key=sheet, seed=7)
    with pytest.raises(NotFoundError, match="no folder"):
        export_review(TASKS, SETS, **(both | {"sheet": tmp_path / "no" / "s.csv"}))
    with pytest.raises(ParameterError, match="not among the tasks"):
        export_review(TASKS[:1], SETS, **both)
    with pytest.raises(ParameterError, match="nothing to review"):
        export_review(TASKS, SETS[1::2], **both)
    with pytest.raises(ParameterError, match="accepted must be"):
        export_review(TASKS, SETS, **both, accepted=-1)
    with pytest.raises(NotFoundError):
        read_review({"ann": tmp_path / "gone.csv"}, key=key)
    with pytest.raises(NotFoundError):
        read_review({"ann": sheet}, key=tmp_path / "gone.json")
    with pytest.raises(InputError, match="not a review key"):
        read_review({"ann": sheet}, key=sheet)
    with pytest.raises(ParameterError, match="at least one sheet"):
        read_review({}, key=key)
    with pytest.raises(ParameterError, match="columns of the review"):
        read_review({"verdict": sheet}, key=key)
    unjudged = read_review({"ann": sheet}, key=key)
    assert not unjudged.false_accept("ann").known, "no answer is no rate, and not 0"
    with pytest.raises(ParameterError, match="no reviewer"):
        unjudged.false_accept("bob")
    with pytest.raises(ParameterError, match="agrees with themselves"):
        unjudged.agreement("ann", "ann")
