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

  const within = (map, place) => Math.max(0, Math.min(map.side - 1, place));

  function cellOf(figure, event) {
    const map = mapOf(figure);
    const box = figure.querySelector("canvas").getBoundingClientRect();
    const [row, column] = [(event.clientY - box.top) / box.height, (event.clientX - box.left) / box.width]
      .map((share) => within(map, Math.floor(share * map.side)));
    return { map, row, column };
  }

  function units(map, cell) {
    const from = cell * map.block + 1;
    const to = Math.min(map.units, from + map.block - 1);
    const name = unit === "edu" ? "EDU" : "sentence";
    return from === to ? `${name} ${from}` : `${name}s ${from}–${to}`;
  }

  const placeOfRow = ({ map, row }) => (unit === "edu" ? row * map.block : firstOf[row * map.block] ?? -1);

  // A frame around the cell that is pointed at, or that keys moved to.
  const frame = document.createElement("i");
  frame.className = "cell";

  function show(canvas, cell, event) {
    const { map, row, column } = cell;
    const size = canvas.clientWidth / map.side;
    const [left, top] = [column, row].map((place, axis) => (axis ? canvas.offsetTop : canvas.offsetLeft) + 1 + place * size);
    Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${size}px`, height: `${size}px` });
    canvas.after(frame);
    const weight = weightOf(map, map.bytes[row * map.side + column]).toPrecision(2);
    const lines = [`row: ${units(map, row)}`, `column: ${units(map, column)}`, `weight ${weight}`];
    const box = frame.getBoundingClientRect();
    showTip(lines, event ?? { clientX: box.right, clientY: box.bottom });
    mark(placeOfRow(cell));
    return lines.join(", ");
  }

  function leave() {
    hideTip();
    frame.remove();
    mark(current);
  }

  function openRow(cell) {
    const place = placeOfRow(cell);
    if (place < 0) return;
    choose(place);
    for (const show of showInTree) show(place);
    showInText(place);
  }

  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  for (const figure of section.querySelectorAll("figure")) {
    const canvas = figure.querySelector("canvas");
    let [row, column, moved] = [0, 0, false];
    canvas.addEventListener("pointermove", (event) => show(canvas, cellOf(figure, event), event));
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("click", (event) => {
      const cell = cellOf(figure, event);
      // A click takes the focus, so keys move on from its cell.
      [row, column, moved] = [cell.row, cell.column, true];
      openRow(cell);
    });
    canvas.addEventListener("blur", leave);
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const map = mapOf(figure);
      if (event.key === "Enter" || event.key === " ") openRow({ map, row: within(map, row) });
      else if (event.key in steps) {
        // The first key shows where the cell is.
        const far = moved ? (event.shiftKey ? 10 : 1) : 0;
        [row, column] = [row, column].map((place, axis) => within(map, within(map, place) + far * steps[event.key][axis]));
        moved = true;
        byId("cell").textContent = show(canvas, { map, row, column });
      } else return;
      event.preventDefault();
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
