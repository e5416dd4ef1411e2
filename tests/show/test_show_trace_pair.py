"""Two traces side by side: every kind of difference is said in words."""

from __future__ import annotations

import bs4
import pandas as pd
import pytest

from plumbline.base.errors import ParameterError
from plumbline.show import trace_pair

TITLES = ("left", "right")


def steps(*rows: tuple) -> pd.DataFrame:
    names = ["name", "arguments", "status", "error", "injected"]
    return pd.DataFrame(
        [{**dict.fromkeys(names), **dict(zip(names, row, strict=False))} for row in rows], columns=names
    )


def marks(shown) -> list[str]:
    page = bs4.BeautifulSoup(shown.markup, "html.parser")
    return [" ".join(head.get_text().split()) for head in page.select("tbody th")]


def cells(shown, row: int) -> list[str]:
    page = bs4.BeautifulSoup(shown.markup, "html.parser")
    return [" ".join(cell.get_text(" ").split()) for cell in page.select("tbody tr")[row].find_all("td")]


def test_every_kind_of_difference_has_its_mark():
    left = steps(
        ("a", "{}", "ok"),
        ("b", '{"x":1}', "ok"),
        ("c", "{}", "ok"),
        ("d", "{}", "failed"),
        ("e", "{}", "ok"),
        ("f", None, "ok"),
    )
    right = steps(
        ("a", "{}", "ok"),
        ("b", '{"x":2}', "ok"),
        ("z", "{}", "ok"),
        ("d", "{}", "ok"),
        ("new", "{}", "ok"),
        ("f", "{}", "ok"),
    )
    shown = trace_pair(left, right, titles=TITLES, pairs=[(0, 0), (1, 1), (2, 2), (3, 3), (4, None), (None, 4), (5, 5)])
    expected = ["= same", "≠ args", "≠ tool", "≠ status", "− gone", "+ new", "? args not recorded"]
    assert marks(shown) == expected
    assert [line.split(" | ")[0] for line in shown.text.splitlines()[2:]] == expected


def test_the_repeated_call_of_a_retry_stands_beside_a_gap():
    fault = ("match", '{"id":"INV-7002"}', "failed", "503 Service Unavailable", "http_503")
    left = steps(fault, ("hold", "{}", "ok"))
    right = steps(fault, ("match", '{"id":"INV-7002"}', "ok"), ("pay", '{"amount":4500.00}', "ok"))
    shown = trace_pair(left, right, titles=TITLES, pairs=[(0, 0), (None, 1), (1, 2)])
    assert marks(shown) == ["= same", "+ new", "≠ tool"]
    assert cells(shown, 0)[0] == '0 match id "INV-7002" injected fault: http_503 failed: 503 Service Unavailable'
    assert cells(shown, 1)[0] == "no step here"
    assert "4500.00" in cells(shown, 2)[1], "money keeps the spelling it was recorded with"


def test_only_the_fields_that_differ_are_marked():
    shown = trace_pair(steps(("a", '{"x":1,"y":2}', "ok")), steps(("a", '{"x":1,"z":2}', "ok")), titles=TITLES)
    page = bs4.BeautifulSoup(shown.markup, "html.parser")
    assert [" ".join(mark.get_text().split()) for mark in page.find_all("mark")] == ["y 2", "z 2"]


def test_without_pairs_steps_stand_by_position():
    assert marks(trace_pair(steps(("a", "{}", "ok")), steps(), titles=TITLES)) == ["− gone"]
    both = trace_pair(steps(("a", "{}", "ok")), steps(("a", "{}", "ok"), ("b", "{}", "ok")), titles=TITLES)
    assert marks(both) == ["= same", "+ new"]


def test_what_an_agent_wrote_is_shown_safely():
    hostile = '{"note":"</script><em>\\u202eevil 👩‍💻"}'
    long = '{"body":"' + "x" * 100_000 + '"}'
    shown = trace_pair(steps(("a", hostile, "ok", "<em>", "<u>")), steps(("a", long, "ok")), titles=("<p>", "r"))
    assert not [tag for tag in ("<em>", "</script", "<u>", "<p>") if tag in shown.markup]
    assert "⟨U+202E⟩" in shown.markup
    assert "more characters)" in shown.markup
    assert len(shown.markup) < 5_000


def test_states_of_a_call_are_words():
    odd = steps(("a", "{}", "no_result"), ("b", "{}", "blocked"), ("c", None, "ok"))
    shown = trace_pair(odd, odd, titles=TITLES)
    assert "no result; may have happened" in cells(shown, 0)[0]
    assert "blocked, did not happen" in cells(shown, 1)[0]
    assert "arguments not recorded" in cells(shown, 2)[0]


def test_a_step_without_a_name_shows_its_kind():
    said = steps((None, None, "ok")).assign(kind="final")
    assert "final" in cells(trace_pair(said, said, titles=TITLES), 0)[0]
    with pytest.raises(ParameterError, match="neither a name nor a kind"):
        trace_pair(steps((None, "{}", "ok")), said, titles=TITLES)


@pytest.mark.parametrize(
    "pairs", [[(0, 0)], [(0, 0), (0, 1)], [(0, 0), (1, 1), (2, None)], [(0, 0), (1, 1), (None, None)], []]
)
def test_pairs_that_lose_or_repeat_a_step_are_refused(pairs):
    two = steps(("a", "{}", "ok"), ("b", "{}", "ok"))
    with pytest.raises(ParameterError, match="pair"):
        trace_pair(two, two, titles=TITLES, pairs=pairs)


@pytest.mark.parametrize(
    ("left", "titles", "said"),
    [
        (steps(("a", "{}", "ok"))[["name"]], TITLES, "lacking \\['arguments', 'status'\\]"),
        (steps(("a", "[1]", "ok")), TITLES, "a JSON object"),
        (steps(("a", "{x}", "ok")), TITLES, "not JSON"),
        (steps(("a", "{}", "fine")), TITLES, "'fine' is unknown"),
        (steps(("a", "{}", "ok")), ("left", ""), "two texts"),
        (steps(("a", "{}", "ok")), ("left",), "two texts"),
        (steps(), TITLES, "both traces are empty"),
    ],
)
def test_traces_that_cannot_be_shown_are_refused(left, titles, said):
    with pytest.raises(ParameterError, match=said):
        trace_pair(left, steps(), titles=titles)
