// The data, the current place, and what is said of it. A place is an EDU, or `edus` plus the index of a constituent.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const count = data.edus;
const tree = data.tree;
const nodes = tree ? tree.nodes.map(([relation, nuclearity, children]) => ({
  relation: tree.relations[relation], nuclearity, children,
})) : [];

// First and last EDU, parent and level of every place.
const first = Array.from({ length: count + nodes.length }, (_, place) => place);
const last = [...first];
const parent = new Array(first.length).fill(-1);
const level = new Array(first.length).fill(1);
for (let place = first.length - 1; place >= count; place--) {
  const { children } = nodes[place - count];
  first[place] = first[children[0]];
  last[place] = last[children.at(-1)];
  for (const child of children) parent[child] = place;
}
for (let place = count; place < first.length; place++) {
  for (const child of nodes[place - count].children) level[child] = level[place] + 1;
}

// The last EDU that begins at an offset or before it; `starts` has the beginning of every EDU, in order.
function eduAt(starts, offset) {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= offset) low = middle; else high = middle - 1;
  }
  return low;
}

// The parts of every EDU in the text.
const pieces = Array.from({ length: count }, () => []);
for (const piece of document.querySelectorAll("#text [data-edu]")) pieces[piece.dataset.edu].push(piece);
const edusText = pieces.map((parts) => parts.map((part) => part.textContent).join(" ").replace(/\s+/g, " ").trim());

// The texts of places in the drawing, shown or not.
let drawn = () => [];
const summary = data.summary;
const selected = new Set(summary ? summary.selected : []);

function isSatellite(place) {
  if (parent[place] < 0) return false;
  const { nuclearity, children } = nodes[parent[place] - count];
  return nuclearity !== "NN" && nuclearity[children.indexOf(place)] === "S";
}

function range(place) {
  return place < count ? `EDU ${place + 1}` : `EDUs ${first[place] + 1} to ${last[place] + 1}`;
}

function describe(place) {
  const lines = [];
  if (place >= count) {
    const { relation, nuclearity } = nodes[place - count];
    lines.push(`${relation}: ${{ NS: "nucleus, then satellite", SN: "satellite, then nucleus", NN: "several nuclei" }[nuclearity]}`);
    lines.push(range(place));
  } else {
    const sentence = data.sentences[place];
    const heading = pieces[place][0]?.closest(".heading") ? " (heading)" : "";
    lines.push(`EDU ${place + 1}, sentence ${sentence + 1}${heading}`);
    if (summary) {
      const unit = summary.unit === "edu" ? place : sentence;
      const score = summary.scores[unit];
      // Null: not a finite number.
      const said = score === null ? "no score" : `score ${score.toPrecision(3)}`;
      lines.push(`${said}${selected.has(unit) ? ", in the summary" : ""}`);
    }
  }
  if (parent[place] >= 0) {
    const above = nodes[parent[place] - count];
    lines.push(`${isSatellite(place) ? "satellite" : "nucleus"} in ${above.relation}`);
  }
  return lines.concat(tree?.notes[place] ?? []);
}

const tip = byId("tip");

function showTip(lines, event) {
  tip.textContent = lines.join("\n");
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const below = event.clientY + 18;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${below + box.height > innerHeight ? event.clientY - box.height - 12 : below}px`;
}

const hideTip = () => { tip.hidden = true; };

let current = -1;
let marked = [0, -1];
// What else shows a place; the tree adds its own.
const markers = [];

function mark(place) {
  const [from, to] = place < 0 ? [0, -1] : [first[place], last[place]];
  for (let edu = marked[0]; edu <= marked[1]; edu++) {
    if (edu < from || edu > to) for (const piece of pieces[edu]) piece.classList.remove("current");
  }
  for (let edu = from; edu <= to; edu++) {
    if (edu < marked[0] || edu > marked[1]) for (const piece of pieces[edu]) piece.classList.add("current");
  }
  marked = [from, to];
  for (const marker of markers) marker(place);
}

function scrollWithin(box, top, height) {
  const view = box.clientHeight;
  if (top >= box.scrollTop + 8 && top + height <= box.scrollTop + view - 8) return;
  box.scrollTop = top - Math.max(8, (view - height) / 2);
}

function showInText(place) {
  const piece = pieces[first[place]]?.[0];
  if (!piece) return;
  const box = byId("text");
  const scroll = () => {
    const rectangle = piece.getBoundingClientRect();
    scrollWithin(box, rectangle.top - box.getBoundingClientRect().top + box.scrollTop, rectangle.height);
  };
  scroll();
  // Paragraphs that come into view get their true heights.
  requestAnimationFrame(scroll);
}

function choose(place) {
  current = place;
  mark(place);
}

// Pointing shows a place for as long as it lasts; a click chooses it.
function pointing(box, placeOf, lines, click) {
  box.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    if (place < 0) { hideTip(); mark(current); return; }
    if (event.pointerType !== "touch") showTip(lines(place, event), event);
    mark(place);
  });
  box.addEventListener("pointerleave", () => { hideTip(); mark(current); });
  box.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place >= 0) click(place, event);
  });
}

const showInTree = [];
pointing(
  byId("text"),
  (event) => { const edu = event.target.closest("[data-edu]"); return edu ? +edu.dataset.edu : -1; },
  describe,
  (place, event) => {
    choose(place);
    for (const show of showInTree) show(place);
    if (event.pointerType === "touch") showTip(describe(place), event);
  },
);
addEventListener("scroll", hideTip, { capture: true, passive: true });
