// The trace-diff viewer: draws only the rows in view, moves one selection by mouse or keys, and shares it with Python.
// One module with nodes.js, which comes before it.

const ROW_GUESS = 46; // px, until a row has been measured
const OVERSCAN = 320; // px drawn above and below what is seen
const PATIENCE = 8000; // ms to wait for the kernel's answer
const KEYS = "↑ ↓ Home End: rows · n p: next, previous difference · v V: next, previous violation · Enter: fold";

let viewers = 0;

class Viewer {
  constructor(model, el) {
    this.model = model;
    this.id = `pl-diff-${++viewers}`;
    this.whole = new Map(); // values fetched in full, by place
    this.asked = new Map(); // requests that wait for the kernel
    this.root = make("div", "pl pl-diff");
    this.summary = make("p", "pl-summary");
    this.bar = make("div", "pl-bar");
    this.bar.setAttribute("role", "group");
    this.bar.setAttribute("aria-label", "move through the diff");
    this.place = make("span", "pl-place");
    this.box = quiet(make("div", "pl-box"));
    this.foot = make("div", "pl-ends");
    this.root.append(this.summary, this.bar, make("p", "pl-keys", KEYS), this.box, this.foot);
    el.append(this.root);
    this.buildBox();
    this.listen();
    this.refresh();
  }

  buildBox() {
    const set = (node, values) => Object.entries(values).forEach(([name, value]) => node.setAttribute(name, value));
    this.head = make("div", "pl-row pl-head");
    this.above = make("div");
    this.body = make("div", "pl-rows");
    this.below = make("div");
    set(this.box, { role: "grid", tabindex: "0", "aria-label": "steps of two traces side by side", "aria-readonly": "true" });
    set(this.head, { role: "row", "aria-rowindex": "1" });
    set(this.above, { role: "presentation" });
    set(this.below, { role: "presentation" });
    set(this.body, { role: "rowgroup" });
    this.box.append(make("div", "pl-heads", this.head), this.above, this.body, this.below);
    this.box.firstChild.setAttribute("role", "rowgroup");
  }

  listen() {
    const { model, box } = this;
    this.handlers = {
      "change:content": () => this.refresh(),
      "change:selected": () => this.show(model.get("selected")),
      "change:trials": () => this.drawBar(),
      "change:trial": () => this.drawBar(),
      "msg:custom": (message) => this.answered(message),
    };
    for (const [name, act] of Object.entries(this.handlers)) model.on(name, act);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    box.addEventListener("keydown", (event) => this.pressed(event));
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    this.body.addEventListener("click", (event) => this.clicked(event));
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(box);
  }

  destroy() {
    this.watch.disconnect();
    for (const timer of this.asked.values()) clearTimeout(timer);
    for (const [name, act] of Object.entries(this.handlers)) this.model.off(name, act);
    this.root.remove();
  }

  // -- what is shown ----------------------------------------------------------------------------------------------

  refresh() {
    const content = this.model.get("content");
    this.rows = content.rows;
    this.missing = content.missing;
    this.selected = this.model.get("selected");
    this.heights = new Array(this.rows.length).fill(ROW_GUESS);
    this.open = new Set();
    this.whole.clear();
    this.nodes = new Map();
    this.drawn = [0, 0];
    this.summary.textContent = content.summary;
    const heads = ["Change", ...content.titles].map((title) => {
      const cell = make("div", "pl-cell", isolated(title));
      cell.setAttribute("role", "columnheader");
      return cell;
    });
    this.head.replaceChildren(...heads);
    this.box.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.box.classList.toggle("pl-empty", this.rows.length === 0);
    this.foot.replaceChildren(footTable(content.foot));
    this.drawBar();
    this.box.scrollTop = 0;
    this.draw(true);
    this.reveal();
  }

  drawBar() {
    const has = (what) => this.rows.some((row) => row[what]);
    const nodes = [
      this.move("‹ difference", "previous difference", "differs", -1),
      this.move("difference ›", "next difference", "differs", 1),
      this.move("violation ›", "next violation", "violates", 1),
    ];
    nodes[0].disabled = nodes[1].disabled = !has("differs");
    nodes[2].disabled = !has("violates") && !this.missing;
    const all = this.rows.length > 0 && this.open.size === this.rows.length;
    const fold = button(all ? "fold all" : "unfold all", all ? "fold all" : "unfold all", () => this.foldAll());
    fold.disabled = this.rows.length === 0;
    nodes.push(fold, ...this.trialNodes(), this.place);
    const focused = this.bar.contains(document.activeElement) ? document.activeElement.textContent : null;
    this.bar.replaceChildren(...nodes);
    if (focused !== null) nodes.find((node) => node.textContent === focused && !node.disabled)?.focus();
    this.sayPlace();
  }

  move(text, label, what, way) {
    return button(text, label, () => this.jump(what, way));
  }

  trialNodes() {
    const trials = this.model.get("trials");
    if (trials.length < 2) return [];
    const here = this.model.get("trial");
    const choice = quiet(make("select", "pl-choice"));
    choice.setAttribute("aria-label", "pair of trials of this cell");
    trials.forEach((label, place) => choice.append(new Option(label, String(place), place === here, place === here)));
    choice.addEventListener("change", () => this.walk(Number(choice.value)));
    const step = (text, label, to) => {
      const node = button(text, label, () => this.walk(to));
      node.disabled = to < 0 || to >= trials.length;
      return node;
    };
    return [step("‹", "previous pair of trials", here - 1), choice, step("›", "next pair of trials", here + 1)];
  }

  walk(place) {
    this.model.set("trial", place);
    this.model.save_changes();
  }

  // -- rows in view -----------------------------------------------------------------------------------------------

  // The rows from first to before last, and the height above them, that fill what is seen and a little more.
  range() {
    const { heights, box } = this;
    const [top, bottom] = [box.scrollTop - OVERSCAN, box.scrollTop + (box.clientHeight || 480) + OVERSCAN];
    let [first, above] = [0, 0];
    while (first < heights.length && above + heights[first] < top) above += heights[first++];
    let [last, end] = [first, above];
    while (last < heights.length && end < bottom) end += heights[last++];
    return { first, last, above, end };
  }

  draw(again = false) {
    for (let pass = 0; pass < 4; pass += 1) {
      const { first, last, above, end } = this.range();
      if (!again && pass === 0 && first >= this.drawn[0] && last <= this.drawn[1]) return;
      this.place_(first, last, above, end);
      if (!this.measure(first, last)) return;
      again = true;
    }
  }

  place_(first, last, above, end) {
    const total = this.heights.reduce((sum, height) => sum + height, 0);
    const kept = new Map();
    for (let n = first; n < last; n += 1) kept.set(n, this.nodes.get(n) ?? rowNode(this, n));
    for (const [n, node] of this.nodes) if (!kept.has(n)) node.remove();
    let after = null;
    for (let n = last - 1; n >= first; n -= 1) {
      const node = kept.get(n);
      if (node.parentNode !== this.body || node.nextSibling !== after) this.body.insertBefore(node, after);
      after = node;
    }
    this.nodes = kept;
    this.drawn = [first, last];
    this.above.style.height = `${above}px`;
    this.below.style.height = `${Math.max(0, total - end)}px`;
    this.pointAt();
  }

  // Note the true heights; true if one was guessed wrong. What stands above the view must not push the view.
  measure(first, last) {
    const found = [];
    for (let n = first; n < last; n += 1) found.push(this.nodes.get(n).getBoundingClientRect().height);
    let offset = this.heights.slice(0, first).reduce((sum, height) => sum + height, 0);
    let [wrong, push] = [false, 0];
    found.forEach((height, place) => {
      const known = this.heights[first + place];
      if (height > 0 && Math.abs(height - known) > 0.5) {
        if (offset + known <= this.box.scrollTop) push += height - known;
        this.heights[first + place] = height;
        wrong = true;
      }
      offset += known;
    });
    if (push) this.box.scrollTop += push;
    return wrong;
  }

  redraw(n) {
    const old = this.nodes.get(n);
    if (!old) return;
    const node = rowNode(this, n);
    old.replaceWith(node);
    this.nodes.set(n, node);
    this.measure(n, n + 1);
    this.draw(true);
  }

  resized() {
    const width = this.box.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.heights.fill(ROW_GUESS);
    this.draw(true);
    this.reveal();
  }

  // -- asking for whole values ---------------------------------------------------------------------------------------

  ask(at, key) {
    this.asked.set(key, setTimeout(() => this.received(key, null), PATIENCE));
    this.model.send({ ask: "value", id: key, ...at });
    this.redraw(at.row);
    this.box.focus({ preventScroll: true });
  }

  answered(message) {
    if (message?.answer === "value" && this.asked.has(message.id)) this.received(message.id, message.text);
  }

  received(key, text) {
    clearTimeout(this.asked.get(key));
    this.asked.delete(key);
    this.whole.set(key, text);
    this.redraw(JSON.parse(key).row);
    this.box.focus({ preventScroll: true });
  }

  // -- moving -----------------------------------------------------------------------------------------------------

  choose(n) {
    if (n < 0 || n >= this.rows.length) return;
    this.show(n);
    if (this.model.get("selected") === n) return;
    this.model.set("selected", n);
    this.model.save_changes();
  }

  show(n) {
    if (n === this.selected) return;
    this.nodes.get(this.selected)?.setAttribute("aria-selected", "false");
    this.selected = n;
    this.nodes.get(n)?.setAttribute("aria-selected", "true");
    this.reveal();
  }

  reveal() {
    const n = this.selected;
    if (n >= 0 && n < this.rows.length) {
      for (let pass = 0; pass < 3; pass += 1) {
        const from = this.heights.slice(0, n).reduce((sum, height) => sum + height, 0);
        const room = this.box.clientHeight - this.head.offsetHeight;
        const before = this.box.scrollTop;
        if (from < before || this.heights[n] > room) this.box.scrollTop = from;
        else if (from + this.heights[n] > before + room) this.box.scrollTop = from + this.heights[n] - room;
        this.draw();
        if (this.box.scrollTop === before) break;
      }
    }
    this.pointAt();
    this.sayPlace();
  }

  pointAt() {
    if (this.nodes.has(this.selected)) this.box.setAttribute("aria-activedescendant", `${this.id}-${this.selected}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  sayPlace() {
    this.place.textContent = this.rows.length ? `row ${this.selected + 1} of ${this.rows.length}` : "";
  }

  jump(what, way) {
    for (let n = this.selected + way; n >= 0 && n < this.rows.length; n += way) {
      if (this.rows[n][what]) return this.choose(n);
    }
    const kind = what === "differs" ? "difference" : "violation";
    const below = what === "violates" && way > 0 && this.missing > 0;
    this.place.textContent = below ? "below: calls not made" : `no ${way > 0 ? "further" : "earlier"} ${kind}`;
    if (below) this.foot.querySelector(".pl-missing")?.scrollIntoView({ block: "nearest" });
    return undefined;
  }

  fold(n) {
    if (!this.open.delete(n)) this.open.add(n);
    this.redraw(n);
    this.box.focus({ preventScroll: true });
    if (n === this.selected) this.reveal();
  }

  foldAll() {
    const all = this.open.size === this.rows.length;
    this.open = new Set(all ? [] : this.rows.keys());
    this.body.replaceChildren();
    this.nodes.clear();
    this.heights.fill(ROW_GUESS);
    this.draw(true);
    this.reveal();
    this.drawBar();
  }

  clicked(event) {
    const row = event.target.closest("[data-row]");
    if (row && document.getSelection().isCollapsed) this.choose(Number(row.dataset.row));
  }

  pressed(event) {
    if (event.target !== this.box || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, this.drawn[1] - this.drawn[0] - 8);
    const last = this.rows.length - 1;
    const within = (n) => Math.min(last, Math.max(0, n));
    const acts = {
      ArrowDown: () => this.choose(within(this.selected + 1)),
      ArrowUp: () => this.choose(within(this.selected - 1)),
      PageDown: () => this.choose(within(this.selected + page)),
      PageUp: () => this.choose(within(this.selected - page)),
      Home: () => this.choose(0),
      End: () => this.choose(last),
      n: () => this.jump("differs", 1),
      p: () => this.jump("differs", -1),
      v: () => this.jump("violates", 1),
      V: () => this.jump("violates", -1),
      Enter: () => this.fold(this.selected),
      " ": () => this.fold(this.selected),
    };
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  }
}

export default {
  render({ model, el }) {
    const viewer = new Viewer(model, el);
    return () => viewer.destroy();
  },
};
