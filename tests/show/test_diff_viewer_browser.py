"""The viewer alone in a real browser: keys, focus, rows in view, themes, hostile values, nothing serious for axe."""

from __future__ import annotations

import pandas as pd
import pytest

from plumbline.show.diff import diff
from tests.browser import missing, page
from tests.traces_to_show import HOSTILE, LONG, call, everything, many_steps
from tests.viewer import open_viewer

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")]

SELECTED = "window.model.get('selected')"
IN_VIEW = """() => {
  const edge = (found) => document.querySelector(found)?.getBoundingClientRect();
  const [box, head, row] = [edge('.pl-box'), edge('.pl-head'), edge("[aria-selected='true']")];
  if (!row || row.top < head.bottom - 1.5) return false;
  return row.bottom <= box.bottom + 1.5 || row.top <= head.bottom + 1.5;
}"""


@pytest.fixture(scope="module")
def made():
    return everything()


@pytest.fixture(scope="module")
def long():
    return many_steps()


@pytest.fixture(scope="module")
def browser():
    with page(width=1100, height=900) as opened:
        yield opened


@pytest.fixture
def opened(browser):
    shown, wrong = browser
    wrong.clear()
    shown.set_viewport_size({"width": 1100, "height": 900})
    shown.emulate_media(color_scheme="light")
    yield shown
    assert wrong == []


def press(opened, *keys: str) -> list[int]:
    found = []
    for key in keys:
        opened.keyboard.press(key)
        found.append(opened.evaluate(SELECTED))
    return found


def test_keys_move_the_selection_and_tell_python(opened, made):
    open_viewer(opened, made)
    opened.locator(".pl-box").focus()
    rows, last = made.rows, len(made.rows) - 1
    differ = [n for n, row in enumerate(rows) if row.differs]
    violate = [n for n, row in enumerate(rows) if row.violates]
    assert opened.evaluate(SELECTED) == violate[0]
    assert press(opened, "Home", "ArrowUp", "ArrowDown", "ArrowDown", "ArrowUp") == [0, 0, 1, 2, 1]
    assert press(opened, "End", "ArrowDown") == [last, last]
    assert press(opened, "Home", *["n"] * (len(differ) + 1)) == [0, *differ, differ[-1]]
    assert "no further difference" in opened.locator(".pl-place").inner_text()
    assert press(opened, "p", "p") == differ[-2:-4:-1]
    assert press(opened, "Home", "v", "v") == [0, *violate]
    assert press(opened, "v") == [violate[-1]]
    assert opened.locator(".pl-place").inner_text() == "below: calls not made"
    assert press(opened, "Shift+V") == [violate[0]]
    assert press(opened, "Home", "PageDown")[1] > 3
    saved = opened.evaluate("window.model.saved.map(state => state.selected)")
    assert saved[-1] == opened.evaluate(SELECTED)
    assert opened.evaluate("document.activeElement.className") == "pl-box"


def test_keys_with_ctrl_are_left_to_the_browser_and_others_do_not_leave_the_viewer(opened, made):
    open_viewer(opened, made)
    opened.evaluate("""() => {
      window.heard = [];
      document.addEventListener('keydown', event => window.heard.push([event.key, event.defaultPrevented]));
    }""")
    opened.locator(".pl-box").focus()
    before = opened.evaluate(SELECTED)
    opened.keyboard.press("b")
    opened.keyboard.press("d")
    opened.keyboard.press("n")
    assert opened.evaluate("window.heard") == []
    assert opened.evaluate(SELECTED) != before
    opened.keyboard.press("Control+n")
    assert opened.evaluate("window.heard.filter(([key]) => key === 'n')") == [["n", False]]
    opened.keyboard.press("Enter")
    loud = opened.evaluate("""() => [...document.querySelectorAll('.pl-diff *')]
      .filter(node => node.matches('button, select, [tabindex]') && !node.dataset.lmSuppressShortcuts).length""")
    assert loud == 0, "a focused element would let a notebook's shortcut fire"


def test_python_moves_the_selection_and_a_click_does_too(opened, long):
    open_viewer(opened, long)
    opened.evaluate("window.model.set('selected', 250)")
    assert opened.evaluate(IN_VIEW)
    assert opened.locator("[aria-selected='true']").get_attribute("data-row") == "250"
    assert opened.evaluate("window.model.saved.length") == 0, "what Python sent was sent back"
    opened.locator("[data-row='252']").click()
    assert opened.evaluate(SELECTED) == 252
    opened.locator("[data-row='252']").click()
    assert opened.evaluate("window.model.saved.length") == 1, "a choice was sent twice"


def test_enter_and_space_fold_a_row_and_a_whole_value_is_fetched(opened, made):
    at = next(n for n, row in enumerate(made.rows) if row.left is not None and row.left.name == "schedule_payment")
    whole = '"' + "x" * LONG + '"'
    open_viewer(opened, made, answers={f"{at} 0 argument 1": whole})
    opened.evaluate(f"window.model.set('selected', {at})")
    row = opened.locator(f"[data-row='{at}']")
    opened.locator(".pl-box").focus()
    assert row.get_by_role("button", name="unfold").count() == 1
    opened.keyboard.press("Enter")
    assert row.get_by_role("button", name="fold", exact=True).count() == 1
    row.get_by_role("button", name="show 99,842 more characters").first.click()
    shown = row.locator(".pl-whole")
    shown.wait_for()
    assert shown.inner_text() == whole
    assert shown.evaluate("node => node.clientHeight < 400 && node.scrollHeight > node.clientHeight")
    assert opened.evaluate("document.activeElement.className") == "pl-box", "focus was lost with the button"
    opened.keyboard.press("Space")
    assert row.locator(".pl-whole").count() == 0 or not row.evaluate("node => node.classList.contains('pl-open')")
    opened.get_by_role("button", name="unfold all").click()
    assert opened.locator(".pl-open").count() > 3
    opened.get_by_role("button", name="fold all").click()
    assert opened.locator(".pl-open").count() == 0


def test_only_rows_in_view_are_drawn_and_the_chosen_one_is_always_in_view(opened, long):
    open_viewer(opened, long)
    assert len(long.rows) == 300
    assert opened.locator("[data-row]").count() < 60
    assert opened.locator(".pl-box").get_attribute("aria-rowcount") == "301"
    opened.locator(".pl-box").focus()
    for key in ("End", "Home", "PageDown", "PageDown", "n", "n", "End", "p", "PageUp", "ArrowUp", "Home", "v"):
        opened.keyboard.press(key)
        assert opened.evaluate(IN_VIEW), key
        pointed = opened.locator(".pl-box").get_attribute("aria-activedescendant")
        assert opened.locator(f"#{pointed}").get_attribute("data-row") == str(opened.evaluate(SELECTED))
    opened.evaluate("document.querySelector('.pl-box').scrollTop = 1e6")
    opened.wait_for_function("document.querySelector(\"[data-row='299']\")")
    assert opened.locator(".pl-box").get_attribute("aria-activedescendant") is None
    opened.keyboard.press("ArrowDown")
    assert opened.evaluate(IN_VIEW)
    opened.evaluate("document.querySelector('.pl-box').scrollTop = 1e6")
    opened.wait_for_timeout(100)
    last = opened.evaluate("""() => {
      const bottom = (found) => document.querySelector(found).getBoundingClientRect().bottom;
      return Math.abs(bottom("[data-row='299']") - bottom('.pl-box'));
    }""")
    assert last < 3, "there is a hole below the last row"


def test_scrolling_up_into_rows_not_yet_measured_does_not_jump(opened, long):
    open_viewer(opened, long)
    opened.evaluate("document.querySelector('.pl-box').scrollTop = 8000")
    opened.wait_for_timeout(100)
    furthest = opened.evaluate("""async () => {
      const box = document.querySelector('.pl-box');
      const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
      let furthest = 0;
      for (let n = 0; n < 60; n += 1) {
        const edge = box.getBoundingClientRect().top + 100;
        const rows = [...document.querySelectorAll('[data-row]')];
        const seen = rows.find(row => row.getBoundingClientRect().bottom > edge);
        const before = seen.getBoundingClientRect().top;
        box.scrollTop -= 40;
        await frames();
        furthest = Math.max(furthest, Math.abs(seen.getBoundingClientRect().top - before - 40));
      }
      return furthest;
    }""")
    assert furthest < 4, f"a row moved {furthest} px further than it was scrolled"


def test_what_an_agent_wrote_is_text(opened, made):
    open_viewer(opened, made)
    opened.get_by_role("button", name="unfold all").click()
    assert opened.locator(".pl-diff img, .pl-diff script, .pl-diff b").count() == 0
    shown = opened.locator("bdi.pl-value", has_text="onerror").first
    assert shown.inner_text() == '"' + HOSTILE.replace("\u202e", "⟨U+202E⟩") + '"'
    assert shown.evaluate("node => getComputedStyle(node).unicodeBidi") == "isolate"


def test_light_dark_and_the_notebooks_theme(opened, made):
    def seen() -> dict[str, str]:
        return opened.evaluate("""() => { const root = getComputedStyle(document.querySelector('.pl-diff'));
          return {ink: root.color, paper: root.backgroundColor}; }""")

    inks = {}
    for body, scheme in (
        ("", "light"),
        ("", "dark"),
        ("data-jp-theme-light='false'", "light"),
        ("data-jp-theme-light='true'", "dark"),
    ):
        opened.emulate_media(color_scheme=scheme)
        open_viewer(opened, made, body=body)
        inks[body, scheme] = seen()["ink"]
    light, dark = inks["", "light"], inks["", "dark"]
    assert light != dark
    assert inks["data-jp-theme-light='false'", "light"] == dark
    assert inks["data-jp-theme-light='true'", "dark"] == light
    open_viewer(opened, made, body="style='--jp-layout-color0: rgb(1, 2, 3)'")
    assert seen()["paper"] == "rgb(1, 2, 3)"


@pytest.mark.parametrize("width", [1100, 600, 420, 320])
def test_nothing_is_cut_off_in_a_narrow_window(opened, made, width):
    opened.set_viewport_size({"width": width, "height": 900})
    open_viewer(opened, made)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert (
        opened.evaluate(
            "(() => { const box = document.querySelector('.pl-box'); return box.scrollWidth - box.clientWidth; })()"
        )
        <= 1
    )
    opened.locator(".pl-box").focus()
    opened.keyboard.press("End")
    assert opened.evaluate(IN_VIEW)


def test_marks_are_words_and_the_focus_is_seen(opened, made):
    open_viewer(opened, made)
    opened.locator(".pl-box").focus()
    opened.keyboard.press("Home")
    style = opened.evaluate("""() => { const row = getComputedStyle(document.querySelector("[aria-selected='true']"));
      return [row.outlineStyle, parseFloat(row.outlineWidth)]; }""")
    assert style[0] == "solid"
    assert style[1] >= 2
    words = opened.locator("[data-row] .pl-words").all_inner_texts()
    assert "same" in words
    assert "words" in words


def test_walking_to_another_pair_of_trials(opened, made):
    open_viewer(opened, made)
    opened.get_by_label("pair of trials of this cell").select_option("1")
    assert opened.evaluate("window.model.saved.at(-1).trial") == 1
    other = made.walk(1)
    from plumbline.show.diff.payload import content_of

    opened.evaluate(
        "([content, first]) => { model.state.selected = first; model.set('content', content); }",
        [content_of(other), other.first],
    )
    assert opened.locator(".pl-head").inner_text().split("\n")[-1] == other.titles[1]
    assert opened.get_by_role("button", name="previous pair of trials").is_enabled()
    assert opened.get_by_role("button", name="next pair of trials").is_disabled()


def test_a_closed_view_leaves_nothing_behind(opened, made):
    open_viewer(opened, made)
    assert opened.evaluate("window.model.handlerCount()") == 5
    opened.evaluate("window.close_viewer()")
    assert opened.evaluate("window.model.handlerCount()") == 0
    assert opened.locator(".pl-diff").count() == 0


def test_two_equal_traces_and_two_empty_ones(opened):
    from plumbline.show.diff import diff_run
    from plumbline.traces import Recording

    frame = pd.DataFrame([call("a", {})])
    open_viewer(opened, diff(frame, frame))
    for name in ("previous difference", "next difference", "next violation"):
        assert opened.get_by_role("button", name=name).is_disabled()
    trials = pd.DataFrame({"arm": ["a", "b"], "task_id": "t"})
    open_viewer(opened, diff_run(Recording(trials, run_id="r"), task="t", arms=("a", "b")))
    opened.locator(".pl-box").focus()
    assert press(opened, "ArrowDown", "End", "n", "Enter") == [-1] * 4
    assert "neither trial recorded a step" in opened.locator(".pl-summary").inner_text()


@pytest.mark.parametrize("where", ["viewer", "dark viewer", "static table"])
def test_axe_finds_nothing_serious(opened, made, where):
    from axe_playwright_python.sync_playwright import Axe

    if where == "static table":
        opened.set_content(
            f"<!doctype html><html lang='en'><title>t</title><main><h1>t</h1>{made._repr_html_()}</main></html>"
        )
    else:
        opened.emulate_media(color_scheme="dark" if "dark" in where else "light")
        open_viewer(opened, made)
        opened.locator(".pl-box").focus()
        opened.keyboard.press("Home")
        opened.keyboard.press("Enter")
    found = Axe().run(opened).response["violations"]
    told = [(each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found]
    assert [each for each in told if each[1] in ("serious", "critical", "moderate")] == []


def test_axe_itself_sees_a_fault(opened):
    from axe_playwright_python.sync_playwright import Axe

    opened.set_content("<!doctype html><html lang='en'><title>t</title><button></button></html>")
    assert "button-name" in {each["id"] for each in Axe().run(opened).response["violations"]}
