// Folding, zoom and keys of the drawing. Folding moves rows: every vertical coordinate is mapped, nothing is drawn anew.
if (tree) {
  const SVG = "http://www.w3.org/2000/svg";
  const { line: LINE, gap: GAP } = tree;
  // Most letters of a folded constituent's line.
  const LABEL = 80;
  const box = byId("tree");
  const drawing = byId("drawing");
  const band = byId("band");
  const folds = byId("folds");
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(drawing).font;
  const { tops, lines } = tree;
  const bottom = (edu) => (edu + 1 < count ? tops[edu + 1] - GAP : tops[count]);

  // The most nuclear EDU of every place stands for it when it is folded.
  const head = [...first];
  for (let place = head.length - 1; place >= count; place--) {
    const { nuclearity, children } = nodes[place - count];
    head[place] = head[children[nuclearity === "SN" ? 1 : 0]];
  }

  // Elements in the order of painting. Those of a large tree wait as lines of text, and are made when first shown.
  const waiting = byId("waiting");
  const items = waiting
    ? waiting.textContent.trim().split("\n").map((markup) => ({ markup, element: null, shown: false }))
    : [...drawing.querySelectorAll("path, text")].map((element) => ({ markup: element.outerHTML, element, shown: true }));
  const texts = first.map(() => []);
  for (const item of items) {
    const [, kind, index] = item.markup.match(/ data-(edu|node)="(\d+)"/) ?? [];
    item.place = kind ? +index + (kind === "node" ? count : 0) : -1;
    item.isPath = item.markup.startsWith("<path");
    item.isHead = item.markup.startsWith('<path class="head"');
    if (!item.isPath && !item.markup.startsWith('<text class="number"')) texts[item.place].push(item);
  }

  function made(list) {
    const missing = list.filter(({ element }) => !element);
    if (missing.length) {
      const group = document.createElementNS(SVG, "g");
      group.innerHTML = missing.map(({ markup }) => markup).join("");
      [...group.children].forEach((element, index) => { missing[index].element = element; });
    }
    return list.map(({ element }) => element);
  }
  drawn = (places) => made(places.flatMap((place) => texts[place]));

  const attribute = ({ markup }, name) => markup.match(` ${name}="([^"]*)"`)[1];
  const textX = (edu) => +attribute(texts[edu][0], "x");
  const nodeX = (place) => +attribute(texts[place][0], "x") - 6;

  const folded = new Set();
  // The folded place that hides each EDU, -1 if it is shown, and the upper edge of its row.
  let cover = new Int32Array(count).fill(-1);
  let rows = Float64Array.from(tops);
  let zoom = 1;

  const hidden = (place) => {
    const by = cover[first[place]];
    return by >= 0 && (place < count || place >= by);
  };

  // The path is made of M, L and Q with points, V with y and H with x.
  function split(path) {
    return path.match(/[MVHLQZ][^MVHLQZ]*/g).map((part) => {
      const numbers = part.slice(1).split(" ").filter(Boolean).map(Number);
      return [part[0], numbers, part[0] === "V" ? 0 : part[0] === "H" ? 2 : 1];
    });
  }

  function moved(y) {
    const row = eduAt(tops, y);
    const by = cover[row];
    if (by < 0) return y - tops[row] + rows[row];
    const below = y - bottom(last[by]);
    if (row === last[by] && below > 0) return rows[first[by]] + LINE + below;
    // What is left of a folded place is its line, and what touches it from outside.
    return rows[first[by]] + LINE / 2 + Math.max(-LINE / 2, Math.min(LINE / 2, y - lines[by - count]));
  }

  function arrange() {
    cover.fill(-1);
    const outermost = [];
    for (let place = count; place < first.length; place++) {
      if (!folded.has(place) || cover[first[place]] >= 0) continue;
      cover.fill(place, first[place], last[place] + 1);
      outermost.push(place);
    }
    let y = tops[0];
    for (let edu = 0; edu < count; edu++) {
      const by = cover[edu];
      if (by >= 0 && edu > first[by]) { rows[edu] = rows[first[by]]; continue; }
      rows[edu] = y;
      y += (by < 0 ? bottom(edu) - tops[edu] : LINE) + GAP;
    }
    // Hidden elements are taken out, since even those would cost style and layout.
    const visible = [];
    for (const item of items) {
      if (item.place < 0 || !hidden(item.place)) visible.push(item);
      else if (item.shown) { item.element.remove(); item.shown = false; }
    }
    made(visible);
    let after = folds;
    for (const item of visible.toReversed()) {
      if (!item.shown) drawing.insertBefore(item.element, after);
      item.shown = true;
      after = item.element;
      place(item);
    }
    folds.replaceChildren(...outermost.map(summaryOf));
    resize(y - GAP + tops[0]);
    mark(current);
    // One item is always there for a screen reader, also where the tree is folded around it.
    const at = current < 0 ? order[0] : current;
    if (!active?.isConnected) announce(hidden(at) ? cover[first[at]] : at);
  }

  // An arrowhead keeps its shape and its distance from the nucleus's line, on the satellite's side.
  function headAt({ place, parts: [[, [x, tip]], [, [left, base]], [, [right]]] }) {
    const line = moved(lines[place - count]);
    const fixed = (y) => (line + y - lines[place - count]).toFixed(1);
    return `M${x.toFixed(1)} ${fixed(tip)}L${left.toFixed(1)} ${fixed(base)}H${right.toFixed(1)}Z`;
  }

  function place(item) {
    let value;
    if (item.isPath) {
      item.parts ??= split(attribute(item, "d"));
      value = item.isHead ? headAt(item) : item.parts.map(([letter, numbers, odd]) => letter + numbers.map((number, index) =>
        (index % 2 === odd ? moved(number) : number).toFixed(1)).join(" ")).join("");
    } else {
      value = moved(+attribute(item, "y")).toFixed(1);
    }
    if (value === item.value) return;
    item.value = value;
    item.element.setAttribute(item.isPath ? "d" : "y", value);
  }

  function make(name, attributes, content = "") {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = content;
    return element;
  }

  function summaryOf(place) {
    const edu = first[place];
    const y = rows[edu];
    const x = textX(edu);
    const group = make("g", { class: "folded", "data-node": place - count });
    const words = edusText[head[place]];
    // By characters: a cut inside one of two code units, such as an emoji, would show a replacement character.
    const letters = [...words].slice(0, LABEL);
    let line = `▸ ${last[place] - edu + 1} EDUs: `;
    const room = tree.width - x - pen.measureText(`${line}…`).width;
    while (letters.length && pen.measureText(letters.join("")).width > room) letters.pop();
    const shown = letters.join("");
    line += shown === words ? words : `${shown.trimEnd()}…`;
    group.append(
      make("path", { class: "leader", d: `M${nodeX(place)} ${y + LINE / 2}H${x - 28}` }),
      make("text", { class: "number", x: x - 7, y: y + LINE - 4.5 }, `${edu + 1}`),
      make("text", { x, y: y + LINE - 4 }, line),
    );
    return group;
  }

  let height = 0;
  function resize(total = height) {
    height = total;
    drawing.setAttribute("viewBox", `0 0 ${tree.width} ${height}`);
    drawing.setAttribute("width", tree.width * zoom);
    drawing.setAttribute("height", height * zoom);
  }

  function setZoom(value) {
    const middle = (box.scrollTop + box.clientHeight / 2) / zoom;
    zoom = Math.max(0.2, Math.min(3, value));
    resize();
    box.scrollTop = middle * zoom - box.clientHeight / 2;
  }

  const edges = (place) => {
    const by = cover[first[place]];
    const end = cover[last[place]];
    const top = rows[first[by >= 0 ? by : place]];
    const under = end >= 0 ? rows[first[end]] + LINE : rows[last[place]] + bottom(last[place]) - tops[last[place]];
    return [top, under];
  };

  function elementOf(place) {
    const by = cover[first[place]];
    if (by >= 0 && hidden(place)) return folds.querySelector(`[data-node="${by - count}"]`);
    return texts[place][0].element;
  }

  let active = null;
  markers.push((place) => {
    if (place < 0) { band.setAttribute("height", 0); return; }
    const [top, under] = edges(place);
    band.setAttribute("x", place < count ? textX(place) - 30 : nodeX(place) - 4);
    band.setAttribute("width", tree.width);
    band.setAttribute("y", top - 2);
    band.setAttribute("height", under - top + 4);
  });

  function announce(place) {
    if (active) for (const name of ["id", "role", "aria-level", "aria-expanded", "aria-label"]) active.removeAttribute(name);
    active = elementOf(place);
    const settings = { id: "active", role: "treeitem", "aria-level": level[place], "aria-label": describe(place).join(", ") };
    if (place >= count) settings["aria-expanded"] = String(!folded.has(place));
    for (const [key, value] of Object.entries(settings)) active.setAttribute(key, value);
    box.setAttribute("aria-activedescendant", "active");
  }

  function show(place) {
    const [top, under] = edges(place);
    const line = place >= count && !hidden(place) ? +elementOf(place).getAttribute("y") : top;
    scrollWithin(box, (place < count || hidden(place) ? top : line - LINE) * zoom, Math.min(under - top, 2 * LINE) * zoom);
    const left = (place < count ? textX(place) : nodeX(place)) * zoom;
    if (left < box.scrollLeft || left > box.scrollLeft + box.clientWidth - 80) box.scrollLeft = Math.max(0, left - 60);
  }

  function reveal(place) {
    let changed = false;
    for (let above = parent[place]; above >= 0; above = parent[above]) changed = folded.delete(above) || changed;
    if (changed) arrange();
    go(place);
  }

  function go(place) {
    choose(place);
    announce(place);
    show(place);
  }

  function fold(place, wanted = !folded.has(place)) {
    if (place < count) return;
    if (wanted) folded.add(place); else folded.delete(place);
    arrange();
    choose(place);
    announce(place);
  }

  // Unfold the largest constituents first, as long as at most so many rows are shown. One of very many children is
  // unfolded nonetheless if there would be few rows without it.
  function foldTo(limit) {
    folded.clear();
    if (!nodes.length) return;
    const closed = [count];
    for (let shown = 1; closed.length;) {
      closed.sort((one, other) => last[other] - first[other] - last[one] + first[one]);
      const fitting = closed.findIndex((place) => shown + nodes[place - count].children.length - 1 <= limit);
      if (fitting < 0 && shown >= limit / 2) break;
      const [{ children }] = closed.splice(Math.max(0, fitting), 1).map((place) => nodes[place - count]);
      shown += children.length - 1;
      closed.push(...children.filter((child) => child >= count));
    }
    for (const place of closed) folded.add(place);
  }

  const order = [];
  for (const stack = [nodes.length ? count : 0]; stack.length;) {
    const place = stack.pop();
    order.push(place);
    if (place >= count) stack.push(...[...nodes[place - count].children].reverse());
  }
  const step = new Map(order.map((place, index) => [place, index]));
  const isShown = (place) => place < count ? cover[place] < 0 : !hidden(place) || cover[first[place]] === place;

  function next(place, by) {
    let index = step.get(place) + by;
    while (index >= 0 && index < order.length && !isShown(order[index])) index += by;
    return order[index] ?? place;
  }

  const keys = {
    ArrowDown: () => go(next(current, 1)),
    ArrowUp: () => go(next(current, -1)),
    ArrowRight: () => (folded.has(current) ? fold(current, false) : current >= count && go(next(current, 1))),
    ArrowLeft: () => {
      if (current >= count && !folded.has(current)) fold(current, true);
      else if (parent[current] >= 0) go(parent[current]);
    },
    Home: () => go(order[0]),
    End: () => { let place = order.at(-1); while (!isShown(place)) place = next(place, -1); go(place); },
    Enter: () => (current >= count ? fold(current) : showInText(current)),
    " ": () => (current >= count ? fold(current) : showInText(current)),
    "+": () => setZoom(zoom * 1.2),
    "=": () => setZoom(zoom * 1.2),
    "-": () => setZoom(zoom / 1.2),
    0: () => setZoom(1),
  };
  box.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (current < 0 && event.key.startsWith("Arrow")) { go(order[0]); return; }
    keys[event.key]();
    if (current >= 0 && /^(Arrow|Home|End)/.test(event.key)) showInText(current);
  });
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setZoom(zoom * Math.exp(-event.deltaY / 400));
  }, { passive: false });

  const placeOf = (event) => {
    const element = event.target.closest?.("[data-edu], [data-node]");
    if (!element || !box.contains(element)) return -1;
    return element.dataset.edu !== undefined ? +element.dataset.edu : count + +element.dataset.node;
  };
  function linesAt(place, event) {
    const found = describe(place);
    if (event.target.classList.contains("relation")) {
      const item = texts[place].find(({ element }) => element === event.target);
      found.push(`probability ${tree.probabilities[eduAt(tops, +attribute(item, "y"))].toFixed(2)}`);
    }
    return found;
  }
  pointing(box, placeOf, linesAt, (place, event) => {
    if (place >= count && event.target.closest("text, .folded")) fold(place);
    else go(place);
    showInText(place);
  });
  showInTree.push((place) => { reveal(place); });

  byId("fold").addEventListener("click", () => { foldTo(12); arrange(); box.scrollTop = 0; });
  byId("unfold").addEventListener("click", () => { folded.clear(); arrange(); });
  byId("smaller").addEventListener("click", () => setZoom(zoom / 1.2));
  byId("larger").addEventListener("click", () => setZoom(zoom * 1.2));
  byId("controls").hidden = false;

  if (waiting) foldTo(120);
  zoom = Math.max(0.9, Math.min(1, box.clientWidth / tree.width));
  arrange();
}
