"""The trace-diff viewer alone in a browser: its module, its style sheet and a stand-in for the widget's model."""

from __future__ import annotations

import json
from typing import Any

from plumbline.show.diff import TraceDiff
from plumbline.show.diff.payload import content_of
from plumbline.show.diff.widget import viewer_css, viewer_script

__all__ = ["open_viewer", "state_of"]

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>viewer</title>
<style>body { margin: 16px; background: %(paper)s; }</style><style id="viewer-css"></style></head>
<body%(body)s><main><h1 style="position:absolute;clip-path:inset(50%%)">viewer</h1><div id="here"></div></main>
</body></html>"""

START = """async ([script, css, state, answers]) => {
  document.getElementById('viewer-css').textContent = css;
  class Model {
    constructor() { this.state = state; this.handlers = {}; this.saved = []; this.sent = []; }
    get(name) { return this.state[name]; }
    set(name, value) { this.state[name] = value; this.emit('change:' + name); }
    save_changes() { this.saved.push({selected: this.state.selected, trial: this.state.trial}); }
    on(name, act) { (this.handlers[name] ??= new Set()).add(act); }
    off(name, act) { this.handlers[name]?.delete(act); }
    emit(name, ...given) { for (const act of this.handlers[name] ?? []) act(...given); }
    send(message) {
      this.sent.push(message);
      const key = [message.row, message.side, message.which, message.field].join(' ');
      const answer = {answer: 'value', id: message.id, text: answers[key]};
      if (key in answers) setTimeout(() => this.emit('msg:custom', answer), 0);
    }
    handlerCount() { return Object.values(this.handlers).reduce((sum, set) => sum + set.size, 0); }
  }
  const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));
  const module = await import(url);
  window.model = new Model();
  const begin = performance.now();
  window.close_viewer = module.default.render({model: window.model, el: document.getElementById('here')});
  return performance.now() - begin;
}"""


def state_of(made: TraceDiff) -> dict[str, Any]:
    """What the widget shares with its view, as the view receives it: through JSON."""
    state = {
        "content": content_of(made),
        "selected": made.first,
        "trials": list(made.cell.labels),
        "trial": made.cell.here,
    }
    return dict(json.loads(json.dumps(state)))


def open_viewer(
    opened: Any,
    made: TraceDiff,
    *,
    answers: dict[str, str] | None = None,
    body: str = "",
    paper: str = "var(--paper, Canvas)",
) -> float:
    """Show a diff on a page and return how long the first drawing took, in milliseconds."""
    opened.set_content(PAGE % {"body": body and f" {body}", "paper": paper})
    return float(opened.evaluate(START, [viewer_script(), viewer_css(), state_of(made), answers or {}]))
