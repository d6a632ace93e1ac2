// Table: held-out and uploaded rows, sorted and filtered here, with pictures for those in sight.
import { post, upload } from "./api.js";
import { bodies, count, h, picture, say, similarity } from "./dom.js";
import { refresh } from "./frame.js";
import { classLabel, link, prototypes, rowsOf, state } from "./state.js";

const PER_PAGE = 25;
const COLUMNS = [
  ["row", "row", "number"], ["name", null, ""], ["truth", "labelled", ""], ["predicted", "predicted", ""],
  ["probability", "probability", "number"], ["familiar", "familiar", ""], ["prototype", "decided by", ""],
  ["similarity", "similarity", "number"], ["contribution", "adds", "number"],
];

let view = null;

export async function showTable(root, values) {
  const source = values.rows ?? state.source;
  root.replaceChildren(h("p", { class: "muted waiting", role: "status" }, "Predicting …"));
  const [found, sheet] = await Promise.all([rowsOf(source), prototypes()]);
  state.source = source;
  view = {
    root, source, found, sheet, page: 0, sort: "row", falling: false,
    filter: { predicted: "", outcome: "", familiar: "", prototype: values.prototype ?? "", text: "", selected: values.selected === "1" && state.selected !== null },
  };
  if (values.predicted) view.filter.predicted = values.predicted;
  view.body = h("tbody");
  view.said = h("p", { class: "muted", role: "status", "aria-live": "polite" });
  view.bodies = h("div");
  view.pager = h("nav", { class: "chips pager", "aria-label": "Pages", "data-live": true });
  view.heads = COLUMNS.map(([key, name, kind]) => h("th", { scope: "col", class: kind },
    h("button", { type: "button", class: "sort", onclick: () => sortBy(key) }, name ?? state.run.noun)));
  root.replaceChildren(
    h("div", { class: "view-head" }, h("h2", {}, "Table"), sources(), tools()),
    found.notes.map((note) => h("p", { class: "warning" }, note)),
    found.skipped_count ? h("details", { class: "warning" }, h("summary", {}, `${count(found.skipped_count, "row")} could not be read`),
      h("ul", {}, found.skipped.map((one) => h("li", {}, `line ${one.line}: ${one.fault}`)))) : "",
    filters(), view.said, view.bodies,
    h("div", { class: "scroll" }, h("table", { class: "rows" }, h("thead", {}, h("tr", {}, h("td", {}), view.heads)), view.body)),
    view.pager);
  fill();
}

function sources() {
  const options = [["held-out", "held-out rows"], ...state.run.uploads.map((one) => [one.key, one.title])];
  const choice = h("select", { id: "source", onchange: (event) => { state.selected = null; location.hash = link("table", { rows: event.target.value }); } },
    options.map(([key, name]) => h("option", { value: key, selected: key === view.source }, key === "held-out" && view.source === "held-out" ? `held-out: ${view.found.title}` : name)));
  return h("div", { class: "field" }, h("label", { for: "source" }, "Rows of"), choice);
}

function tools() {
  const file = h("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.smi,.xlsx,.sdf,.jsonl,.conllu", class: "visually-hidden", onchange: () => send(file.files[0]) });
  const rows = encodeURIComponent(view.source);
  return h("div", { class: "chips", "data-live": true },
    state.run.targets ? null : [h("label", { for: "file", class: "button" }, "Upload a table"), file],
    h("a", { class: "button", href: `/api/rows.csv?rows=${rows}`, download: "predictions.csv" }, "Download CSV"),
    h("a", { class: "button", href: `/api/rows.xlsx?rows=${rows}`, download: "predictions.xlsx" }, "Download Excel with pictures"));
}

async function send(file) {
  if (!file) return;
  say(`Predicting ${file.name} …`);
  try {
    const made = await upload(file);
    await refresh();
    location.hash = link("table", { rows: made.key });
    say(`${count(made.count, "row")} of ${made.title} predicted`);
  } catch (problem) { say(problem.message, true); }
}

function select(key, name, options) {
  return h("div", { class: "field" }, h("label", { for: `filter-${key}` }, name),
    h("select", { id: `filter-${key}`, onchange: (event) => { view.filter[key] = event.target.value; view.page = 0; fill(); } },
      options.map(([value, text]) => h("option", { value, selected: String(value) === String(view.filter[key]) }, text))));
}

function filters() {
  const { run } = state;
  return h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    h("div", { class: "field grow" }, h("label", { for: "filter-text" }, "Find"),
      h("input", { id: "filter-text", type: "search", autocomplete: "off", placeholder: run.kind === "molecule" ? "part of a SMILES" : "part of a name",
        oninput: (event) => { view.filter.text = event.target.value.toLowerCase(); view.page = 0; fill(); } })),
    select("predicted", "Predicted", [["", "any class"], ...run.classes.map((name, label) => [label, name])]),
    select("outcome", "Outcome", [["", "all"], ["right", "right"], ["wrong", "wrong"], ["none", "not labelled"]]),
    select("familiar", "Familiar", [["", "all"], ["yes", "familiar"], ["no", "unfamiliar"], ["notes", "with a warning"]]),
    select("prototype", "Decided by", [["", "any prototype"], ...(view.found.rows.some((row) => row.prototype === null) ? [["none", "nothing found"]] : []),
      ...view.sheet.prototypes.map((card) => [card.number, `${card.number} ${card.description.slice(0, 24)}`])]),
    view.filter.selected ? h("button", { type: "button", onclick: () => { view.filter.selected = false; state.selected = null; location.hash = link("table"); } },
      `${count(state.selected.size, "row")} selected on the map ✕`) : null);
}

function fits(row) {
  const { filter } = view;
  const outcome = row.truth === null ? "none" : row.truth === row.predicted ? "right" : "wrong";
  return (filter.predicted === "" || row.predicted === Number(filter.predicted))
    && (filter.outcome === "" || outcome === filter.outcome)
    && (filter.familiar === "" || (filter.familiar === "notes" ? row.notes.length > 0 : row.familiar === (filter.familiar === "yes")))
    && (filter.prototype === "" || (filter.prototype === "none" ? row.prototype === null : row.prototype === Number(filter.prototype)))
    && (!filter.text || row.name.toLowerCase().includes(filter.text))
    && (!filter.selected || state.selected?.has(row.row));
}

function sortBy(key) {
  view.falling = view.sort === key ? !view.falling : ["probability", "similarity", "contribution"].includes(key);
  view.sort = key;
  view.page = 0;
  fill();
}

function fill() {
  const { sort, falling } = view;
  const kept = view.found.rows.filter(fits).sort((a, b) => {
    const [x, y] = [a[sort], b[sort]];
    const order = typeof x === "string" ? x.localeCompare(y) : Number(x ?? -1) - Number(y ?? -1);
    return (falling ? -order : order) || a.row - b.row;
  });
  const labelled = kept.filter((row) => row.truth !== null);
  const right = labelled.filter((row) => row.truth === row.predicted).length;
  view.said.textContent = `${kept.length} of ${count(view.found.rows.length, "row")}` +
    (labelled.length ? `, ${right} of ${labelled.length} labelled ones correct` : "");
  COLUMNS.forEach(([key], at) => {
    if (key === sort) view.heads[at].setAttribute("aria-sort", falling ? "descending" : "ascending");
    else view.heads[at].removeAttribute("aria-sort");
  });
  const pages = Math.max(1, Math.ceil(kept.length / PER_PAGE));
  const shown = kept.slice(view.page * PER_PAGE, (view.page + 1) * PER_PAGE);
  view.body.replaceChildren(...shown.map(line));
  const turn = (to) => { view.page = to; fill(); view.root.querySelector("table")?.scrollIntoView({ block: "nearest" }); };
  view.pager.replaceChildren(...(pages > 1 ? [
    h("button", { type: "button", disabled: view.page === 0, onclick: () => turn(view.page - 1) }, "Previous"),
    h("span", {}, `page ${view.page + 1} of ${pages}`),
    h("button", { type: "button", disabled: view.page >= pages - 1, onclick: () => turn(view.page + 1) }, "Next")] : []));
  drawSmall(shown.map((row) => row.row));
}

function line(row) {
  const found = row.prototype !== null;
  const why = link("ask", { rows: view.source, row: row.row });
  return h("tr", { "data-row": row.row },
    h("td", { class: "small-picture" }),
    h("td", { class: "number" }, String(row.row)),
    h("td", { class: "name" }, h("a", { href: why, title: "Ask why" }, h("code", {}, row.name)), row.notes.map((note) => h("p", { class: "note" }, `! ${note}`))),
    h("td", {}, row.truth === null ? "–" : classLabel(row.truth)),
    h("td", {}, classLabel(row.predicted), row.truth !== null && row.truth !== row.predicted ? h("b", { class: "wrong" }, " ✗ wrong") : null),
    h("td", { class: "number" }, row.probability.toFixed(2)),
    h("td", {}, row.familiar === null ? "–" : row.familiar ? "yes" : h("b", {}, "no")),
    h("td", {}, found ? [h("a", { href: link("prototypes", { show: row.prototype }) }, String(row.prototype)), " ", h("code", {}, view.sheet.prototypes[row.prototype]?.description ?? "")] : "nothing found"),
    h("td", { class: "number" }, found ? similarity(row) : "–"),
    h("td", { class: "number" }, found ? row.contribution.toFixed(2).replace("-", "−") : "–"));
}

async function drawSmall(numbers) {
  if (state.run.kind === "sentence" || !numbers.length) return;
  const own = view;
  try {
    const found = await post("/api/pictures", { rows: view.source, numbers });
    if (own !== view) return;
    view.bodies.replaceChildren(bodies(found.defs));
    for (const number of numbers) {
      view.body.querySelector(`[data-row="${number}"] .small-picture`)?.replaceChildren(picture(found.pictures[number]) ?? "");
    }
  } catch (problem) { say(problem.message, true); }
}
