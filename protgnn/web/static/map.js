// Map: graphs and prototypes by t-SNE; what is selected here is shown in the table.
import { get, post } from "./api.js";
import { bodies, count, h, picture, s, say } from "./dom.js";
import { classLabel, link, prototypes, rowsOf, state } from "./state.js";

const EDGE = 30;
let WIDTH = 1000, HEIGHT = 640;
const at = ([x, y]) => [EDGE + x * (WIDTH - 2 * EDGE), EDGE + y * (HEIGHT - 2 * EDGE)];

let view = null;

export async function showMap(root) {
  const source = state.source;
  [WIDTH, HEIGHT] = root.clientWidth < 700 ? [520, 560] : [1000, 640]; // signs keep their size on a small screen
  root.replaceChildren(h("p", { class: "muted waiting", role: "status" }, "Laying out the map …"));
  const [found, rows, sheet] = await Promise.all([get(`/api/map?rows=${encodeURIComponent(source)}`), rowsOf(source), prototypes()]);
  view = { source, rows: rows.rows, sheet, places: found.graphs.map(at), current: null, chosen: new Set(state.selected ?? []) };
  const plot = draw(found);
  view.detail = h("aside", { class: "detail", "aria-live": "polite" }, h("p", { class: "muted" },
    "Point at a mark to see it, click to keep it here, drag to select several. With the keyboard: arrows move, Enter asks, space selects."));
  view.chosenText = h("p", { class: "number" });
  root.replaceChildren(
    h("div", { class: "view-head" }, h("h2", {}, "Map"),
      h("p", { class: "muted" }, `${count(found.graphs.length, state.run.noun)} of the ${rows.title} and ${count(found.prototypes.length, "prototype")} (★), by t-SNE of what the model compares. ` +
        "Colour and shape give the labelled class, and a ring marks a wrong prediction." + (found.left_out ? ` ${found.left_out} more are not drawn.` : ""))),
    h("div", { class: "map" }, h("div", { class: "frame plot" }, plot),
      h("div", { class: "side" }, legend(), view.chosenText,
        h("p", { class: "chips", "data-live": true },
          h("button", { type: "button", onclick: showChosen }, "Show in the table"),
          h("button", { type: "button", onclick: () => choose(new Set()) }, "Clear")),
        view.detail)));
  choose(view.chosen);
}

function legend() {
  return h("ul", { class: "plain legend" }, state.run.classes.map((_, label) => h("li", {}, classLabel(label))));
}

function sign(label, x, y) {
  const shape = picture(state.run.signs[label]).firstElementChild;
  const group = s("g", { transform: `translate(${(x - 7).toFixed(1)} ${(y - 7).toFixed(1)})` });
  group.append(shape);
  return group;
}

function star(x, y, label, number) {
  const points = [...Array(10).keys()].map((corner) => {
    const radius = corner % 2 ? 6 : 14, angle = (Math.PI * corner) / 5 - Math.PI / 2;
    return `${(x + radius * Math.cos(angle)).toFixed(1)},${(y + radius * Math.sin(angle)).toFixed(1)}`;
  });
  const group = s("g", { class: "star", "data-prototype": number });
  group.append(s("polygon", { points: points.join(" "), fill: `var(--class-${label % 8})`, stroke: "var(--ink)", "stroke-width": 1.2 }),
    s("text", { x: x + 13, y: y - 8, "font-size": 15, fill: "var(--ink)" }, String(number)));
  return group;
}

function draw(found) {
  const plot = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: 0, role: "application",
    "aria-label": "Map of graphs and prototypes. Arrows move between graphs, Enter asks about one, space selects it." });
  view.marks = view.places.map(([x, y], number) => {
    const row = view.rows[number];
    const group = s("g", { class: "dot", "data-row": number });
    if (row.truth !== null && row.truth !== row.predicted) {
      group.append(s("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 11, fill: "none", stroke: "var(--ink)", "stroke-width": 1.4 }));
    }
    group.append(sign(row.truth ?? row.predicted, x, y));
    return group;
  });
  plot.append(...view.marks, ...found.prototypes.map((one, number) => star(...at(one.at), one.label, number)));
  view.cursor = s("circle", { class: "cursor", r: 15, fill: "none", visibility: "hidden" });
  view.band = s("rect", { class: "band", visibility: "hidden" });
  plot.append(view.cursor, view.band);
  listen(plot);
  return plot;
}

function where(plot, event) {
  const box = plot.getBoundingClientRect();
  return [((event.clientX - box.left) * WIDTH) / box.width, ((event.clientY - box.top) * HEIGHT) / box.height];
}

function listen(plot) {
  let from = null, dragged = false;
  plot.addEventListener("pointerdown", (event) => { from = where(plot, event); dragged = false; plot.setPointerCapture(event.pointerId); });
  plot.addEventListener("pointermove", (event) => {
    const [x, y] = where(plot, event);
    if (from && Math.hypot(x - from[0], y - from[1]) > 6) {
      dragged = true;
      const box = { x: Math.min(x, from[0]), y: Math.min(y, from[1]), width: Math.abs(x - from[0]), height: Math.abs(y - from[1]) };
      for (const [name, value] of Object.entries({ ...box, visibility: "visible" })) view.band.setAttribute(name, value);
    } else if (!from) {
      const near = nearest(x, y, 16);
      if (near !== null && near !== view.current) look(near);
    }
  });
  plot.addEventListener("pointerup", (event) => {
    const [x, y] = where(plot, event);
    if (dragged) {
      const [left, right] = [x, from[0]].sort((a, b) => a - b), [top, bottom] = [y, from[1]].sort((a, b) => a - b);
      choose(new Set(view.places.flatMap(([px, py], row) => (px >= left && px <= right && py >= top && py <= bottom ? [row] : []))));
    } else {
      const star = document.elementFromPoint(event.clientX, event.clientY)?.closest(".star");
      if (star) location.hash = link("prototypes", { show: star.dataset.prototype });
      else { const near = nearest(x, y, 20); if (near !== null) look(near); }
    }
    from = null;
    view.band.setAttribute("visibility", "hidden");
  });
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) { event.preventDefault(); move(step); }
    if (view.current === null) return;
    if (event.key === "Enter") location.hash = link("ask", { rows: view.source, row: view.current });
    if (event.key === " ") {
      event.preventDefault();
      const chosen = new Set(view.chosen);
      if (!chosen.delete(view.current)) chosen.add(view.current);
      choose(chosen);
    }
  });
}

function nearest(x, y, within) {
  let best = null, closest = within;
  view.places.forEach(([px, py], row) => {
    const distance = Math.hypot(px - x, py - y);
    if (distance < closest) [best, closest] = [row, distance];
  });
  return best;
}

/** The nearest graph in a direction. */
function move([dx, dy]) {
  if (view.current === null) return look(0);
  const [x, y] = view.places[view.current];
  let best = null, least = Infinity;
  view.places.forEach(([px, py], row) => {
    const along = (px - x) * dx + (py - y) * dy, aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    if (along > 0.5 && along + 2 * aside < least) [best, least] = [row, along + 2 * aside];
  });
  return best === null ? undefined : look(best);
}

async function look(row) {
  view.current = row;
  const [x, y] = view.places[row];
  for (const [name, value] of Object.entries({ cx: x, cy: y, visibility: "visible" })) view.cursor.setAttribute(name, value);
  const line = view.rows[row];
  const slot = h("div", { class: "frame thumb" });
  view.detail.replaceChildren(slot, h("p", {}, h("code", {}, line.name)),
    h("p", {}, "predicted ", classLabel(line.predicted), ` ${line.probability.toFixed(2)}`,
      line.truth === null ? null : [", labelled ", classLabel(line.truth)]),
    h("p", { class: "muted" }, line.prototype === null ? "nothing found: predicted without any evidence" : [
      "decided by ", h("a", { href: link("prototypes", { show: line.prototype }) }, `prototype ${line.prototype}`), " ", h("code", {}, view.sheet.prototypes[line.prototype].description)]),
    h("p", {}, h("a", { href: link("ask", { rows: view.source, row }) }, "Ask why")));
  const own = view;
  const found = await post("/api/pictures", { rows: view.source, numbers: [row] });
  if (own === view && own.current === row) slot.replaceChildren(bodies(found.defs), picture(found.pictures[row]) ?? "");
}

function choose(chosen) {
  view.chosen = chosen;
  state.selected = chosen.size ? chosen : null;
  view.marks.forEach((mark, row) => mark.classList.toggle("pale", chosen.size > 0 && !chosen.has(row)));
  view.chosenText.textContent = chosen.size ? `${chosen.size} selected` : "";
  if (chosen.size) say(`${chosen.size} selected`);
}

function showChosen() {
  location.hash = link("table", view.chosen.size ? { selected: 1 } : {});
}
