// Search over the text, matches across EDUs included, and over the names of relations.
if (byId("search")) {
  const query = byId("query");
  const found = byId("found");
  const lowered = edusText.map((text) => text.toLowerCase());
  const starts = [];
  let length = 0;
  for (const text of lowered) { starts.push(length); length += text.length + 1; }
  const whole = lowered.join(" ");

  let hits = [];
  let at = -1;
  let lit = [];

  let searched = "";
  function search() {
    searched = query.value;
    for (const element of lit) element.classList.remove("hit");
    const wanted = query.value.toLowerCase().replace(/\s+/g, " ").trim();
    hits = [];
    lit = [];
    at = -1;
    if (wanted) {
      const places = new Set();
      for (let offset = whole.indexOf(wanted); offset >= 0; offset = whole.indexOf(wanted, offset + wanted.length)) {
        const from = eduAt(starts, offset);
        hits.push(from);
        for (let edu = from; edu <= eduAt(starts, offset + wanted.length - 1); edu++) {
          places.add(edu);
        }
      }
      nodes.forEach(({ relation }, index) => {
        if (!relation.toLowerCase().includes(wanted)) return;
        hits.push(count + index);
        places.add(count + index);
      });
      hits.sort((one, other) => first[one] - first[other] || other - one);
      lit = [...[...places].flatMap((place) => pieces[place] ?? []), ...drawn([...places])];
      for (const element of lit) element.classList.add("hit");
    }
    found.textContent = wanted ? `${hits.length || "no"} match${hits.length === 1 ? "" : "es"}` : "";
  }

  function go(by) {
    if (!hits.length) return;
    at = at < 0 && by < 0 ? hits.length - 1 : (at + by + hits.length) % hits.length;
    found.textContent = `${at + 1} of ${hits.length}`;
    const place = hits[at];
    choose(place);
    for (const show of showInTree) show(place);
    showInText(place);
  }

  let waiting = 0;
  query.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 80); });
  byId("search").addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); if (query.value !== searched) search(); go(1); });
  byId("previous").addEventListener("click", () => go(-1));
  query.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { query.value = ""; search(); }
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); go(-1); }
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches('input[type="search"]')) return;
    event.preventDefault();
    query.focus();
    query.select();
  });
  byId("search").hidden = false;
}
