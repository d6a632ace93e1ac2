// Compare: two models side by side, where they disagree and why, and what each knows.
import { get, post } from "./api.js";
import { bodies, count, h, picture } from "./dom.js";
import { reasoning, verdict } from "./reasoning.js";
import { classLabel, state } from "./state.js";

const NAMES = { accuracy: "accuracy", balanced_accuracy: "balanced accuracy", roc_auc: "ROC AUC", mcc: "Matthews correlation", brier: "Brier score", ece: "calibration error (ECE)" };
const sheetOf = (of) => get(`/api/prototypes?of=${of}`);
let view = null;

export async function showCompare(root) {
  root.replaceChildren(h("p", { class: "muted waiting", role: "status" }, "Comparing …"));
  let found;
  try { found = await get("/api/compare"); }
  catch (problem) {
    root.replaceChildren(h("div", { class: "view-head" }, h("h2", {}, "Compare")), h("p", {}, problem.message));
    return;
  }
  const sheets = await Promise.all(found.of.map(sheetOf));
  view = { found, sheets, both: h("section", { class: "both", "aria-live": "polite", "aria-label": "Both explanations" }) };
  root.replaceChildren(
    h("div", { class: "view-head" }, h("h2", {}, "Compare"),
      h("p", { class: "muted" }, `${found.names[0]} (first) and ${found.names[1]} (second) on ${count(found.n, state.run.noun)} of the ${found.part}.`)),
    ...found.notes.map((note) => h("p", { class: "warning" }, note)),
    h("div", { class: "pair" }, scores(found), disagreements(found)),
    view.both, prototypePairs(found, sheets), ...sheets.map((sheet) => bodies(sheet.defs)));
}

function scores(found) {
  const certain = (one) => one.between[0] > 0 || one.between[1] < 0;
  return h("section", { "aria-label": "Scores" }, h("div", { class: "scroll" }, h("table", {},
    h("caption", {}, "Scores, and their difference (second minus first) with a 95% interval"),
    h("thead", {}, h("tr", {}, h("td", {}), ["first", "second", "difference", "95% interval"].map((name) => h("th", { scope: "col", class: "number" }, name)))),
    h("tbody", {}, found.scores.map((one) => h("tr", {}, h("th", { scope: "row" }, NAMES[one.name] ?? one.name),
      h("td", { class: "number" }, one.first.toFixed(3)), h("td", { class: "number" }, one.second.toFixed(3)),
      h("td", { class: "number" }, certain(one) ? h("b", {}, fine(one.difference)) : fine(one.difference)),
      h("td", { class: "number muted" }, `${fine(one.between[0])} to ${fine(one.between[1])}`)))))),
    h("p", {}, `Only the first is right on ${found.only_first}, only the second on ${found.only_second}${byChance(found)}.`));
}

/** How likely a split at least as uneven is if neither model is better; nothing is said of 0 against 0. */
function byChance(found) {
  if (!found.only_first && !found.only_second) return "";
  return `; a split at least this uneven would arise by chance with probability ${found.p_value < 0.001 ? "below 0.001" : found.p_value.toFixed(3)} (McNemar)`;
}

const fine = (value) => (value < -0.0005 ? "−" : "+") + Math.abs(value).toFixed(3);

function disagreements(found) {
  if (!found.disagreement_count) return h("section", {}, h("p", {}, `They predict the same class for every ${state.run.noun}.`));
  const opinion = ([label, chance], truth) => h("td", { class: "opinion" }, classLabel(label), ` ${chance.toFixed(2)}`, label === truth ? " ✓" : " ✗");
  return h("section", { "aria-label": "Disagreements" }, h("div", { class: "scroll short" }, h("table", {},
    h("caption", {}, `They disagree on ${found.disagreement_count} of ${found.n}; choose one to see both explanations`),
    h("thead", {}, h("tr", {}, [state.run.noun, "labelled", "first", "second"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, found.disagreements.map((one) => h("tr", {},
      h("td", { class: "name" }, one.text && state.run.takes_text
        ? h("button", { type: "button", class: "linklike", onclick: () => showBoth(one) }, h("code", {}, one.name)) : h("code", {}, one.name)),
      h("td", {}, classLabel(one.truth)), opinion(one.first, one.truth), opinion(one.second, one.truth)))))));
}

async function showBoth(one) {
  const { found, sheets } = view;
  try {
    const text = state.run.targets === 2 ? one.text.replace(" – ", ", ") : one.text;
    const answers = await Promise.all(found.of.map((of) => post("/api/ask", { text, of })));
    const problem = answers.find((answer) => answer.problem)?.problem;
    if (problem) throw new Error(problem);
    view.both.replaceChildren(h("h3", {}, h("code", {}, one.name)), h("div", { class: "pair" }, answers.map((answer, place) =>
      h("div", {}, h("p", { class: "eyebrow" }, found.names[place]), verdict(answer), reasoning(answer, sheets[place])))));
    view.both.scrollIntoView({ block: "start", behavior: "smooth" });
  } catch (problem) { view.both.replaceChildren(h("p", { class: "warning" }, problem.message)); }
}

function prototypePairs(found, [first, second]) {
  const side = (sheet, number, weight) => (number === null ? h("td", { class: "muted" }, "–") : h("td", {},
    h("div", { class: "frame thumb" }, picture(sheet.prototypes[number].picture)), h("p", { class: "small" }, `prototype ${number}, weight ${weight.toFixed(2)}`)));
  const shared = found.prototypes.filter((pair) => pair.first !== null && pair.second !== null).length;
  return h("section", { "aria-label": "Prototypes side by side" }, h("div", { class: "scroll" }, h("table", { class: "prototype-pairs" },
    h("caption", {}, `Prototypes; those that look the same share a row: ${shared} in both, ` +
      `${found.prototypes.filter((pair) => pair.second === null).length} only in the first, ${found.prototypes.filter((pair) => pair.first === null).length} only in the second`),
    h("thead", {}, h("tr", {}, ["class", "part", found.names[0], found.names[1]].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, found.prototypes.map((pair) => h("tr", {}, h("td", {}, classLabel(pair.label)), h("td", {}, h("code", {}, pair.description)),
      side(first, pair.first, pair.first_weight), side(second, pair.second, pair.second_weight)))))));
}
