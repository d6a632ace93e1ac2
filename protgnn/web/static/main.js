// The frame: which view is shown, light or dark, and saving what is shown.
import { h, say } from "./dom.js";
import { refresh } from "./frame.js";
import { savePage } from "./save_page.js";
import { state } from "./state.js";
import { showAsk } from "./ask.js";
import { showCompare } from "./compare.js";
import { showMap } from "./map.js";
import { showPrototypes } from "./prototypes.js";
import { showTable } from "./table.js";

const VIEWS = { ask: showAsk, map: showMap, table: showTable, prototypes: showPrototypes, compare: showCompare };
const view = document.getElementById("view");
let shown = null;

function place() {
  const [name, query] = location.hash.slice(1).split("?");
  return { name: name in VIEWS ? name : "ask", values: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

async function show() {
  const { name, values } = place();
  for (const tab of document.querySelectorAll("nav [data-view]")) {
    if (tab.dataset.view === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  say("");
  const changed = shown !== name;
  shown = name;
  view.dataset.view = name;
  document.title = `${state.run.name}: ${name} – ProtGNN explorer`;
  try { await VIEWS[name](view, values, changed); }
  catch (problem) { view.replaceChildren(h("p", { class: "warning" }, problem.message)); }
}

function chooseTheme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  dark.addEventListener("change", name);
  name();
}

chooseTheme();
document.getElementById("save").addEventListener("click", () => savePage(shown));
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); view.focus(); });
addEventListener("hashchange", show);
refresh().then(show, (problem) => view.replaceChildren(h("p", { class: "warning" }, problem.message)));
