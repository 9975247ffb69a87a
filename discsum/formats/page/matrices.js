// The prior matrices as heat maps, one pixel a cell; only those that are shown are decoded.
if (byId("maps")) {
  const section = byId("maps");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const firstOf = [];
  data.sentences.forEach((sentence, edu) => { firstOf[sentence] ??= edu; });
  let unit = "edu";

  function mapOf(figure) {
    const map = data.maps.find(({ name, unit: of }) => name === figure.dataset.name && of === unit);
    map.bytes ??= Uint8Array.from(atob(map.cells), (character) => character.charCodeAt(0));
    map.side ??= Math.sqrt(map.bytes.length);
    return map;
  }

  // Bytes are weights on a logarithmic scale, 0 is none.
  const weightOf = (map, byte) => (byte ? map.least * (map.most / map.least) ** ((byte - 1) / 254) : 0);

  function colours() {
    const style = getComputedStyle(section);
    const stops = ["--cold", "--mild", "--hot"].map((name) => style.getPropertyValue(name).trim().split(" ").map(Number));
    // Without a weight a cell is transparent.
    const table = new Uint8Array(4 * 256).fill(255).fill(0, 0, 4);
    for (let byte = 1; byte < 256; byte++) {
      const place = (byte - 1) / 127;
      const from = Math.min(1, Math.floor(place));
      for (let channel = 0; channel < 3; channel++) {
        const [low, high] = [stops[from][channel], stops[from + 1][channel]];
        table[4 * byte + channel] = Math.round(low + (high - low) * (place - from));
      }
    }
    return new Uint32Array(table.buffer);
  }

  function draw() {
    const table = colours();
    for (const figure of section.querySelectorAll("figure")) {
      const map = mapOf(figure);
      const canvas = figure.querySelector("canvas");
      canvas.width = canvas.height = map.side;
      // The cells of a small matrix need not be larger than this.
      canvas.style.maxWidth = `${24 * map.side}px`;
      const context = canvas.getContext("2d");
      const image = context.createImageData(map.side, map.side);
      const pixels = new Uint32Array(image.data.buffer);
      for (let index = 0; index < pixels.length; index++) pixels[index] = table[map.bytes[index]];
      context.putImageData(image, 0, 0);
      const means = map.block > 1 ? `, means of ${map.block} × ${map.block}` : "";
      figure.querySelector(".size").textContent = `${map.units} × ${map.units}${means}`;
      const same = map.least === map.most;
      figure.querySelector(".least").textContent = same ? "" : map.least.toPrecision(2);
      figure.querySelector(".ramp").classList.toggle("same", same);
      figure.querySelector(".most").textContent = map.most.toPrecision(2);
    }
  }

  function cellOf(figure, event) {
    const map = mapOf(figure);
    const { side } = map;
    const box = figure.querySelector("canvas").getBoundingClientRect();
    const [row, column] = [(event.clientY - box.top) / box.height, (event.clientX - box.left) / box.width]
      .map((share) => Math.max(0, Math.min(side - 1, Math.floor(share * side))));
    return { map, row, column, weight: weightOf(map, map.bytes[row * side + column]) };
  }

  function units(map, cell) {
    const from = cell * map.block + 1;
    const to = Math.min(map.units, from + map.block - 1);
    const name = unit === "edu" ? "EDU" : "sentence";
    return from === to ? `${name} ${from}` : `${name}s ${from}–${to}`;
  }

  const placeOfRow = ({ map, row }) => (unit === "edu" ? row * map.block : firstOf[row * map.block] ?? -1);

  for (const figure of section.querySelectorAll("figure")) {
    const canvas = figure.querySelector("canvas");
    canvas.addEventListener("pointermove", (event) => {
      const cell = cellOf(figure, event);
      showTip([`row: ${units(cell.map, cell.row)}`, `column: ${units(cell.map, cell.column)}`, `weight ${cell.weight.toPrecision(2)}`], event);
      mark(placeOfRow(cell));
    });
    canvas.addEventListener("pointerleave", () => { hideTip(); mark(current); });
    canvas.addEventListener("click", (event) => {
      const place = placeOfRow(cellOf(figure, event));
      if (place < 0) return;
      choose(place);
      for (const show of showInTree) show(place);
      showInText(place);
    });
  }
  for (const choice of section.querySelectorAll("[name=unit]")) {
    choice.addEventListener("change", () => { unit = choice.value; draw(); });
  }
  dark.addEventListener("change", draw);
  section.hidden = false;
  draw();
}
document.body.dataset.ready = "all";
