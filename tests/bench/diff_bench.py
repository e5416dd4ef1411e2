"""W1-W3: the trace-diff viewer on 300 steps in a browser, against a plain HTML table of the same rows and its budgets.

W1 is a ratio within one page, so it holds on any machine; W2 and W3 are shares of a budget in milliseconds, as a reader
feels them, and say less on a busy machine. The viewer draws only what is in view, the table everything.
"""

from __future__ import annotations

import statistics
from typing import Any

from tests.bench.race import row
from tests.browser import missing, page
from tests.traces_to_show import many_steps
from tests.viewer import open_viewer

STEPS = 300
DRAW_BUDGET, MOVE_BUDGET = 100.0, 16.0  # ms

TABLE = """markup => {
  const here = document.getElementById('here');
  here.replaceChildren();
  const begin = performance.now();
  here.innerHTML = markup;
  here.getBoundingClientRect().height;
  return performance.now() - begin;
}"""
MOVES = """async count => {
  const box = document.querySelector('.pl-box');
  const took = [];
  for (let n = 0; n < count; n += 1) {
    const begin = performance.now();
    box.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}));
    box.getBoundingClientRect().height;
    took.push(performance.now() - begin);
    if (n % 10 === 0) await new Promise(done => requestAnimationFrame(done));
  }
  return [took, window.model.get('selected')];
}"""


def bench(rounds: int = 5, *, tiny: bool = False) -> list[dict[str, Any]]:
    """Return the share of a plain table's time that a drawing takes, and the shares of the two budgets."""
    lines = [
        ("W1", f"first drawing of {STEPS} steps / a plain HTML table of the same rows"),
        ("W2", f"first drawing of {STEPS} steps / {DRAW_BUDGET:g} ms"),
        ("W3", f"moving the selection, 95th percentile / {MOVE_BUDGET:g} ms"),
    ]
    if missing():
        return [row(name, what, None, 1.0, "<=", note=missing()) for name, what in lines]
    drawn, table, moved = measured(1 if tiny else rounds, moves=20 if tiny else 200)
    ratios = (
        statistics.median(a / b for a, b in zip(drawn, table, strict=True)),
        statistics.median(drawn) / DRAW_BUDGET,
        statistics.quantiles(moved, n=20)[-1] / MOVE_BUDGET,
    )
    return [row(name, what, ratio, 1.0, "<=") for (name, what), ratio in zip(lines, ratios, strict=True)]


def measured(rounds: int, *, moves: int) -> tuple[list[float], list[float], list[float]]:
    """Return milliseconds of drawings by the viewer, of plain tables, and of moves of the selection."""
    made = many_steps(STEPS)
    plain = made._repr_html_()
    drawn: list[float] = []
    table: list[float] = []
    with page(width=1100, height=900) as (opened, wrong):
        for _ in range(rounds + 1):
            drawn.append(open_viewer(opened, made))
            table.append(float(opened.evaluate(TABLE, plain)))
        open_viewer(opened, made)
        opened.evaluate("window.model.set('selected', 0)")
        moved, selected = opened.evaluate(MOVES, moves)
        if wrong or selected != moves:
            raise RuntimeError(f"the viewer did not do what was timed: row {selected} after {moves} moves; {wrong}")
    return drawn[1:], table[1:], moved
