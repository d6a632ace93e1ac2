// An answer as a reader checks it: the prediction, what was compared, and sums that add up.
import { bodies, count, h, picture, signed, similarity } from "./dom.js";
import { classLabel, link, state } from "./state.js";

const MOST_CLASSES = 4;

/** The prediction in large, and a bar for every class. */
export function verdict(answer, run = state.run) {
  const ordered = answer.logits.map((_, label) => label).sort((a, b) => answer.logits[b] - answer.logits[a]);
  const bars = ordered.slice(0, 8).map((label) => h("div", { class: "chance", role: "listitem" },
    h("span", { class: "chance-name" }, classLabel(label, run)),
    h("meter", { class: `of-class-${label % 8}`, min: 0, max: 1, value: answer.probabilities[label],
      "aria-label": `probability of ${run.classes[label]}` }),
    h("span", { class: "number" }, answer.probabilities[label].toFixed(2)),
    h("span", { class: "number muted", title: "logit: the sum of contributions" }, signed(answer.logits[label]))));
  const truth = answer.truth === null ? null : h("p", { class: answer.truth === answer.predicted ? "right" : "wrong" },
    answer.truth === answer.predicted ? "✓ correct: labelled " : "✗ wrong: labelled ", run.classes[answer.truth]);
  return h("section", { class: "verdict", "aria-label": "Prediction" },
    h("p", { class: "eyebrow" }, "Prediction"),
    h("p", { class: "headline" }, classLabel(answer.predicted, run),
      h("span", { class: "muted" }, ` probability ${answer.probabilities[answer.predicted].toFixed(2)}`)),
    truth,
    answer.warnings.map((text) => h("p", { class: "warning" }, text)),
    h("div", { role: "list", class: "chances" },
      h("div", { class: "chance muted small" }, h("span", {}, "class"), h("span", {}), h("span", { class: "number" }, "prob."), h("span", { class: "number" }, "logit")),
      bars),
    h("p", {}, answer.difference + "."));
}

/** What an edit did to the prediction. */
export function changes(changed, run = state.run) {
  if (!changed) return null;
  const [before, after] = changed.probability;
  const [made, makes] = changed.beside ?? [0, 0];
  const recomposed = Math.abs(makes - made) > 0.005;
  const same = !changed.prototypes.length && !changed.flipped && !recomposed;
  const heading = changed.flipped
    ? [classLabel(changed.label, run), " became ", classLabel(changed.predicted, run)]
    : ["Still ", classLabel(changed.label, run)];
  return h("section", { class: `changed${changed.flipped ? " flipped" : ""}`, "aria-label": "What changed", "aria-live": "polite" },
    h("p", { class: "eyebrow" }, "What changed"),
    h("p", { class: "headline small" }, heading, h("span", { class: "muted" },
      same ? " and nothing moved" : ` probability of ${run.classes[changed.label]} ${before.toFixed(2)} → ${after.toFixed(2)}`)),
    recomposed ? h("p", { class: "small" }, `base and properties of the whole, for ${run.classes[changed.label]}: ${signed(made)} → ${signed(makes)}`) : null,
    changed.prototypes.length && !same ? h("ul", { class: "plain" }, changed.prototypes.map((one) =>
      h("li", {}, h("b", { class: "number" }, signed(one.after - one.before)), " to ", classLabel(one.label, run), " from ",
        h("a", { href: link("prototypes", { show: one.prototype }) }, `prototype ${one.prototype}`), " ",
        h("code", {}, one.description),
        h("span", { class: "muted" }, ` ${signed(one.before)} → ${signed(one.after)}`)))) : null);
}

function columns(answer) {
  const all = answer.logits.map((_, label) => label);
  return all.length <= MOST_CLASSES ? all : [answer.predicted, answer.runner_up];
}

/** similarity × weight = contribution for the classes that the prototype speaks to. */
function arithmetic(row, answer, run, largest) {
  const spoken = [answer.predicted, answer.runner_up, row.label].filter((label, at, all) =>
    all.indexOf(label) === at && Math.abs(row.weights[label]) > 1e-6);
  return (spoken.length ? spoken : [row.label]).map((label) => {
    const adds = row.similarity * row.weights[label];
    const length = Math.round((100 * Math.abs(adds)) / largest);
    const bar = h("span", { class: `bar of-class-${label % 8}${adds < 0 ? " less" : ""}`, "aria-hidden": "true" });
    bar.style.width = `${Math.max(length, 1)}%`;
    return h("div", { class: "sum" },
      h("p", { class: "sum-line" },
        h("span", { title: row.counted > 1 ? "places × their average similarity" : "similarity" }, similarity(row)), h("span", { class: "muted" }, " × "),
        h("span", { title: "weight" }, row.weights[label].toFixed(2).replace("-", "−")), h("span", { class: "muted" }, " = "),
        h("b", {}, signed(adds)), h("span", { class: "muted" }, " to "), classLabel(label, run)),
      h("span", { class: "bar-track" }, bar));
  });
}

function evidenceRow(row, answer, cards, run, largest) {
  const card = cards[row.prototype];
  const found = row.places > 1 ? `, found ${row.places} times` : "";
  const part = answer.with_evidence ? h("figure", {},
    h("div", { class: "frame" }, picture(row.picture) ?? h("span", { class: "muted" }, answer.whole)),
    h("figcaption", {}, h("code", {}, row.evidence ?? answer.whole), found)) : null;
  return h("article", { class: `evidence${answer.with_evidence ? "" : " whole"}`, "data-prototype": row.prototype,
    "aria-label": `Prototype ${row.prototype} of ${run.classes[row.label]}` },
    part,
    h("figure", {}, h("div", { class: "frame" }, picture(card.picture)),
      h("figcaption", {}, h("code", {}, card.description), " from ", h("span", { class: "source", title: card.source }, card.source))),
    h("div", { class: "arithmetic" },
      h("p", {}, classLabel(row.label, run), " ",
        h("a", { href: link("prototypes", { show: row.prototype }) }, `prototype ${row.prototype}`)),
      arithmetic(row, answer, run, largest)));
}

/** Everything under the prediction: rows with pictures, then the table that adds up. */
export function reasoning(answer, sheet, run = state.run) {
  const cards = sheet.prototypes;
  const largest = Math.max(1e-9, ...answer.all.flat().map(Math.abs));
  const compared = answer.with_evidence
    ? ["this part of the input", `looks like this part of a training ${run.kind}`, "similarity × weight = contribution"]
    : [`to the model, ${answer.whole} is close to this part of a training ${run.kind}`, "similarity × weight = contribution"];
  return h("section", { class: "reasoning", "aria-label": "Explanation" },
    bodies(answer.defs), bodies(sheet.defs),
    answer.rows.length
      ? h("div", { class: `evidence headings muted small${answer.with_evidence ? "" : " whole"}`, "aria-hidden": "true" },
        compared.map((text) => h("span", {}, text)))
      : h("p", { class: "muted" }, "No part looks like a prototype: the table shows what decides."),
    answer.rows.map((row) => evidenceRow(row, answer, cards, run, largest)),
    answer.rows.length ? h("p", { class: "muted small" }, `Similarity: ${answer.scale}.`) : null,
    sums(answer, run));
}

function sums(answer, run) {
  const labels = columns(answer);
  const shown = labels.map((label) => answer.rows.reduce((sum, row) => sum + row.similarity * row.weights[label], 0));
  const line = (name, values, strong = false) => h("tr", strong ? { class: "total" } : {}, h("th", { scope: "row" }, name),
    values.map((value) => h("td", { class: "number" }, signed(value))));
  return h("div", { class: "scroll" }, h("table", { class: "sums" },
    h("caption", {}, "All contributions"),
    h("thead", {}, h("tr", {}, h("td", {}), labels.map((label) => h("th", { scope: "col", class: "number" }, classLabel(label, run))))),
    h("tbody", {},
      answer.rows.length ? line(`the ${count(answer.rows.length, "prototype")} above`, shown) : null,
      answer.rest.count ? line(count(answer.rest.count, answer.rows.length ? "more prototype" : "prototype"), labels.map((label) => answer.rest.adds[label])) : null,
      ...answer.beside_lines.map((one) => line(one.name, labels.map((label) => one.adds[label]))),
      line("sum (logit)", labels.map((label) => answer.logits[label]), true))));
}
