// The nodes of the viewer, built from plain values. Everything that an agent wrote enters the page as a text node inside
// <bdi>; no markup is ever built from it. One module with diff.js, which comes after it.

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const child of children) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

function isolated(text, className) {
  const node = make("bdi", className);
  node.textContent = text;
  return node;
}

// Shortcuts of a notebook match the focused element itself, so each one that can have focus says that they must not.
function quiet(node) {
  node.dataset.lmSuppressShortcuts = "true";
  return node;
}

function button(text, label, act) {
  const node = quiet(make("button", "pl-button", text));
  node.type = "button";
  if (label !== text) node.setAttribute("aria-label", label);
  node.addEventListener("click", act);
  return node;
}

function rowNode(viewer, n) {
  const row = viewer.rows[n];
  const open = viewer.open.has(n);
  const fold = button(open ? "▾" : "▸", open ? "fold" : "unfold", () => viewer.fold(n));
  fold.tabIndex = -1;
  fold.classList.add("pl-fold");
  const sign = make("span", "pl-sign", row.sign);
  sign.setAttribute("aria-hidden", "true");
  const mark = make("div", "pl-mark", fold, sign, make("span", "pl-words", row.words));
  mark.setAttribute("role", "rowheader");
  if (row.violates) mark.append(make("span", "pl-violates", "✗ violation"));
  const cells = row.cells.map((cell, side) => cellNode(viewer, cell, n, side, open));
  const told = [...(row.fields ?? []), ...(row.notes ?? [])].map((words) => isolated(words, "pl-told"));
  if (row.more) told.push(make("span", "pl-told", `and ${row.more} more fields that differ`));
  cells[row.cells[1] ? 1 : 0].append(...told);
  const node = make("div", `pl-row pl-row-${row.mark.replace("_", "-")}${open ? " pl-open" : ""}`, mark, ...cells);
  node.id = `${viewer.id}-${n}`;
  node.dataset.row = String(n);
  node.setAttribute("role", "row");
  node.setAttribute("aria-rowindex", String(n + 2));
  node.setAttribute("aria-selected", String(n === viewer.selected));
  return node;
}

function cellNode(viewer, cell, n, side, open) {
  const node = make("div", "pl-cell");
  node.setAttribute("role", "gridcell");
  if (!cell) {
    node.classList.add("pl-gap");
    node.append("no step here");
    return node;
  }
  if (cell.parallel) node.classList.add("pl-together");
  const head = make("span", "pl-step", make("span", "pl-pos", String(cell.step)));
  if (cell.kind) head.append(`${cell.kind} `);
  head.append(isolated(cell.name, "pl-name"));
  node.append(head);
  if (cell.parallel) node.append(make("span", "pl-parallel", cell.parallel));
  if (cell.args?.length) node.append(argsNode(viewer, cell, n, side, open));
  if (cell.unrecorded) node.append(make("span", "pl-args", "arguments not recorded"));
  for (const [name, words] of cell.flags ?? []) node.append(isolated(words, `pl-flag pl-flag-${name}`));
  const spoken = !cell.args && !cell.unrecorded && cell.result;
  if (cell.result && (open || spoken)) {
    const shown = make("span", "pl-result", spoken ? null : "result ");
    putValue(viewer, shown, cell.result[0], cell.result[1], { row: n, side, which: "result", field: 0 });
    node.append(shown);
  }
  if (open) for (const fact of cell.facts ?? []) node.append(isolated(fact, "pl-fact"));
  return node;
}

function argsNode(viewer, cell, n, side, open) {
  const list = make("span", "pl-args");
  cell.args.forEach(([name, text, more, differs], field) => {
    const item = make(differs ? "mark" : "span", "pl-arg", isolated(name, "pl-key"), " ");
    putValue(viewer, item, text, more, open ? { row: n, side, which: "argument", field } : null);
    list.append(item, " ");
  });
  if (cell.more) {
    const item = make("span", "pl-arg", `and ${cell.more} more arguments`);
    putValue(viewer, item, "", cell.more, open ? { row: n, side, which: "arguments", field: cell.args.length } : null, "arguments");
    list.append(item);
  }
  return list;
}

// A value; cut short, it says by how much and, in an unfolded row, offers the rest.
function putValue(viewer, node, text, more, at, unit = "characters") {
  const key = at && JSON.stringify(at);
  const whole = key && viewer.whole.get(key);
  if (whole !== undefined && whole !== null) {
    node.append(isolated(whole, "pl-value pl-whole"));
    return;
  }
  if (text) node.append(isolated(more ? `${text}…` : text, "pl-value"));
  if (!more) return;
  const count = `${more.toLocaleString("en")} more ${unit}`;
  if (!at) {
    node.append(` (${count})`);
  } else if (viewer.asked.has(key)) {
    node.append(make("span", "pl-wait", " asking the kernel …"));
  } else {
    const offer = whole === null ? "no answer from the kernel; ask again" : `show ${count}`;
    node.append(" ", button(offer, offer, () => viewer.ask(at, key)));
  }
}

// The foot: one line a fact, one cell a side, or one across both.
function footTable(lines) {
  const body = make("tbody");
  for (const { label, sides } of lines) {
    const head = make("th", "", label);
    head.scope = "row";
    const row = make("tr", label === "calls not made" ? "pl-missing" : "", head);
    for (const side of sides) {
      const said = side.map(([name, words]) => isolated(words, `pl-line${name ? ` pl-foot-${name}` : ""}`));
      const cell = make("td", "", ...said);
      if (sides.length === 1) cell.colSpan = 2;
      row.append(cell);
    }
    body.append(row);
  }
  const caption = make("caption", "pl-hidden", "how the two trials ended");
  return make("table", "pl-foot-table", caption, make("colgroup", "", make("col", "pl-first"), make("col"), make("col")), body);
}
