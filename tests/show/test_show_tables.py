"""Tables: structure a screen reader uses, escaping, notes, the text twin."""

from __future__ import annotations

import bs4
import pandas as pd
import pytest

from plumbline.base.errors import ParameterError
from plumbline.show import callout, estimate_table, table_html
from plumbline.show.markup import escape

HOSTILE = '</script><b onclick="x()">&amp;'


def parsed(shown) -> bs4.BeautifulSoup:
    return bs4.BeautifulSoup(shown.markup, "html.parser")


def test_a_table_has_caption_scopes_and_aligned_numbers():
    frame = pd.DataFrame({"arm": ["react", "executor"], "n": [56, 64], "share": [0.982143, 1.0]})
    page = parsed(table_html(frame, caption="Outcome", formats={"share": ".1%"}, notes=["completed trials"]))
    assert page.caption.get_text() == "Outcome"
    assert [h["scope"] for h in page.thead.find_all("th")] == ["col"] * 3
    assert [h.get_text() for h in page.tbody.find_all("th", attrs={"scope": "row"})] == ["react", "executor"]
    assert [c.get_text() for c in page.select("td.pl-num")] == ["56", "98.2%", "64", "100.0%"]
    assert page.select_one(".pl-note").get_text() == "completed trials"
    assert page.select_one(".pl-scroll")["tabindex"] == "0", "a wide table must scroll by keyboard"


def test_row_headers_can_be_none_or_several():
    frame = pd.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"]})
    for count in (0, 2, 3):
        assert len(parsed(table_html(frame, caption="t", row_headers=count)).tbody.find_all("th")) == count
    for wrong in (-1, 4, True):
        with pytest.raises(ParameterError, match="row_headers"):
            table_html(frame, caption="t", row_headers=wrong)


def test_everything_is_escaped_everywhere():
    frame = pd.DataFrame({HOSTILE: [HOSTILE], "v": [1]})
    shown = table_html(frame, caption=HOSTILE, notes=[HOSTILE])
    assert "<b" not in shown.markup
    assert "<script" not in shown.markup
    assert shown.markup.count("&lt;/script&gt;") == 5, "caption, its label, heading, cell, note"
    assert HOSTILE in shown.text
    cells = pd.DataFrame({"group": [HOSTILE], "series": [HOSTILE], "value": [0.5], "note": [HOSTILE]})
    for other in (estimate_table(cells, caption=HOSTILE, notes=[HOSTILE]), callout("note", HOSTILE, [HOSTILE])):
        assert "<b onclick" not in other.markup
        assert "</script" not in other.markup


def test_marks_that_reorder_or_hide_text_are_spelled_out():
    assert escape("a\u202eb\x00c") == "a⟨U+202E⟩b⟨U+0000⟩c"
    assert escape("👩\u200d💻 שלום") == "👩\u200d💻 שלום"


def test_missing_cells_are_a_dash_and_never_zero():
    frame = pd.DataFrame({"a": ["x", None], "f": [1.5, None], "n": pd.array([1, pd.NA], dtype="Int64")})
    last = parsed(table_html(frame, caption="t")).tbody.find_all("tr")[1]
    assert [cell.get_text() for cell in last.find_all(["th", "td"])] == ["–", "–", "–"]
    assert table_html(frame, caption="t").text.splitlines()[-1].split() == ["–", "–", "–"]


def test_floats_of_a_column_share_decimals_and_small_ones_never_look_like_zero():
    frame = pd.DataFrame({"v": [100.0, 81.25, -3.0], "p": [0.4666667, 0.000276845, 1e-9]})
    page = parsed(table_html(frame, caption="t", row_headers=0))
    texts = [cell.get_text() for cell in page.tbody.find_all("td")]
    assert texts == ["100.00", "0.46667", "81.25", "0.00028", "−3.00", "1e-09"]


def test_formats_can_be_functions_and_must_give_text():
    frame = pd.DataFrame({"v": [-2.0]})
    assert "−2.0" in table_html(frame, caption="t", formats={"v": ".1f"}).text
    assert "two" in table_html(frame, caption="t", formats={"v": lambda v: "two"}).text
    with pytest.raises(ParameterError, match="must return text"):
        table_html(frame, caption="t", formats={"v": lambda v: 2})


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        (pd.DataFrame({"a": [1]}), {"caption": " "}, "needs a caption"),
        (pd.DataFrame({"a": []}), {"caption": "t"}, "without a row"),
        (pd.DataFrame(index=[0]), {"caption": "t"}, "without a row or a column"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {"caption": "t"}, "each name once"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), {"caption": "t"}, "one level"),
        (pd.DataFrame({"a": [1]}), {"caption": "t", "formats": {"b": ".1f"}}, "do not exist: \\['b'\\]"),
        ([1], {"caption": "t"}, "DataFrame, not list"),
    ],
)
def test_tables_that_say_nothing_are_refused(frame, options, said):
    with pytest.raises(ParameterError, match=said):
        table_html(frame, **options)


def estimates() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"group": "baseline", "series": "no retry", "value": 1.0, "low": 0.943376, "high": 1.0, "n": 64, "k": 64},
            {"group": "fault", "series": "no retry", "value": 0.8125, "low": 0.70, "high": 0.89, "n": 64, "k": 52},
            {"group": "fault", "series": "react", "value": None, "n": 0, "k": 0, "note": "no trial met a fault"},
        ]
    )


def test_an_estimate_table_has_value_interval_and_n_in_every_cell():
    shown = estimate_table(estimates(), caption="Outcome", group_title="condition", group_order=["fault", "baseline"])
    rows = parsed(shown).tbody.find_all("tr")
    assert [row.th.get_text() for row in rows] == ["fault", "baseline"]
    assert [" ".join(c.get_text().split()) for c in rows[0].find_all("td")] == [
        "81.2 % [70.0, 89.0] n=64",
        "cannot tell (0 of 0)a",
    ]
    assert [" ".join(c.get_text().split()) for c in rows[1].find_all("td")] == ["100.0 % [94.3, 100.0] n=64", "–"]
    assert "a no trial met a fault" in " ".join(parsed(shown).select_one(".pl-note").get_text().split())
    assert shown.text.splitlines() == [
        "Outcome",
        "condition  no retry                     react",
        "fault      81.2 % [70.0, 89.0]  n=64    cannot tell (0 of 0) (a)",
        "baseline   100.0 % [94.3, 100.0]  n=64  –",
        "a no trial met a fault",
    ]


def test_equal_notes_share_a_letter():
    frame = estimates().assign(note=["same", "other", "same"])
    notes = [note.get_text() for note in parsed(estimate_table(frame, caption="t")).select(".pl-note")]
    assert notes == ["a same", "b other"]


def test_a_callout_says_its_kind_in_words():
    page = parsed(callout("cannot", "Equivalence", ["No margin was declared."]))
    assert page.select_one(".pl-kind").get_text() == "✗ Cannot claim"
    assert [li.get_text() for li in page.find_all("li")] == ["No margin was declared."]
    assert callout("can", "A", "b").text == "✓ Can claim: A\n  b"
    with pytest.raises(ParameterError, match="kind 'danger' is unknown"):
        callout("danger", "a", "b")
    for title, text in (("", "b"), ("a", ""), ("a", []), ("a", ["b", " "])):
        with pytest.raises(ParameterError, match="at least one sentence"):
            callout("note", title, text)


def test_every_output_has_a_text_twin_and_brings_its_style():
    shown = callout("note", "A", "b")
    bundle = shown._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert bundle["text/html"].startswith("<style data-plumbline>")
    assert bundle["text/plain"] == str(shown) == shown.text
    assert ".pl.pl.pl td" in bundle["text/html"] or ".pl.pl.pl th,.pl.pl.pl td" in bundle["text/html"]
