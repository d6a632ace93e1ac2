// What the views share: the run, its prototypes, rows that were fetched, and what is selected on the map.
import { get } from "./api.js";
import { h, picture } from "./dom.js";

export const state = { run: null, asked: null, selected: null, source: "held-out" };
let sheet = null;
let rows = new Map();

/** The sheet of prototypes of the present model; fetched once until the prototypes are edited. */
export function prototypes() {
  sheet ??= get("/api/prototypes").catch((problem) => { sheet = null; throw problem; });
  return sheet;
}

/** The rows of a source, as the present model predicts them. */
export function rowsOf(key) {
  if (!rows.has(key)) {
    rows.set(key, get(`/api/rows?rows=${encodeURIComponent(key)}`).catch((problem) => { rows.delete(key); throw problem; }));
  }
  return rows.get(key);
}

/** The prototypes were edited: what was computed with the old ones is of no use. */
export function forget() {
  sheet = null;
  rows = new Map();
  state.selected = null;
}

/** The sign and the name of a class. */
export function classLabel(label, run = state.run) {
  return h("span", { class: "class" }, picture(state.run.signs[label] ?? null), run.classes[label] ?? String(label));
}

/** An address within the page. */
export function link(view, values = {}) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return `#${view}${given.length ? "?" + new URLSearchParams(given) : ""}`;
}
