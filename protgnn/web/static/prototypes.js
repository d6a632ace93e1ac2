// Prototypes: what the model knows, where each decides, and edits with the accuracy before and after.
import { post } from "./api.js";
import { bodies, count, h, percent, picture, say } from "./dom.js";
import { refresh } from "./frame.js";
import { classLabel, forget, link, prototypes, state } from "./state.js";

let root = null;

export async function showPrototypes(element, values) {
  root = element;
  if (!root.querySelector(".cards")) root.replaceChildren(h("p", { class: "muted waiting", role: "status" }, "Drawing the prototypes …"));
  const sheet = await prototypes();
  render(sheet, values.class ?? "");
  const shown = values.show === undefined ? null : root.querySelector(`[data-prototype="${CSS.escape(values.show)}"]`);
  if (shown) { shown.classList.add("shown"); shown.scrollIntoView({ block: "center" }); shown.focus({ preventScroll: true }); }
}

function render(sheet, chosen) {
  const { run } = state;
  const wide = run.kind === "sentence";
  const kept = sheet.prototypes.filter((card) => chosen === "" || card.label === Number(chosen));
  root.replaceChildren(
    h("div", { class: "view-head" }, h("h2", {}, "Prototypes"),
      h("p", { class: "muted" }, `Each is a part of one training ${run.kind}, coloured in it. Weight: what a similarity of 1 adds to the logit of its class. ` +
        `Support: how many training ${run.noun}s it is nearest to. Decides: the held-out rows to whose predicted class it adds most.`),
      h("div", { class: "field", "data-live": true }, h("label", { for: "class" }, "Class"),
        h("select", { id: "class", onchange: (event) => render(sheet, event.target.value) },
          h("option", { value: "" }, "all classes"),
          run.classes.map((name, label) => h("option", { value: label, selected: String(label) === String(chosen) }, name))))),
    edits(sheet) ?? "", bodies(sheet.defs),
    h("ul", { class: `cards${wide ? " wide" : ""}` }, kept.map((card) => cardOf(card, sheet))));
}

function cardOf(card, sheet) {
  const required = sheet.edits?.required.includes(card.number);
  const act = (action, text, title) => h("button", { type: "button", title, onclick: () => edit({ action, prototype: card.number }) }, text);
  const decides = card.wins === undefined ? null : [h("dt", {}, "decides"), h("dd", {},
    card.wins ? h("a", { href: link("table", { rows: "held-out", prototype: card.number }) }, count(card.wins, "held-out row")) : "no held-out row",
    card.wins && card.right !== null ? `, ${card.right} right` : "")];
  return h("li", { class: "card", "data-prototype": card.number, tabindex: -1, "aria-label": `Prototype ${card.number} of ${state.run.classes[card.label]}` },
    h("h3", {}, classLabel(card.label), `prototype ${card.number}`, required ? h("span", { class: "muted small" }, "required") : null),
    h("div", { class: "frame" }, picture(card.picture)),
    h("dl", {}, h("dt", {}, "part"), h("dd", {}, h("code", {}, card.description)),
      h("dt", {}, "from"), h("dd", {}, h("code", {}, card.source)),
      h("dt", {}, "weight"), h("dd", {}, card.weight.toFixed(2)),
      h("dt", {}, "support"), h("dd", {}, count(card.support, `training ${state.run.noun}`)), decides),
    sheet.edits ? h("div", { class: "chips", "data-live": true },
      act("remove", "Remove", "Remove it and refit the last layer"),
      act("forbid", "Forbid", "Remove it, and never choose such a part again"),
      required ? null : act("require", "Require", "Later steps must keep it"),
      h("button", { type: "button", title: "Put another part in its place", onclick: () => replace(card.number) }, "Replace…")) : null);
}

function edits(sheet) {
  const { edits: made } = sheet;
  if (!made) return sheet.cannot_edit ? h("p", { class: "muted" }, sheet.cannot_edit) : null;
  const moved = made.now - made.original;
  const field = h("input", { id: "part", maxlength: 1000, autocomplete: "off", placeholder: state.run.kind === "molecule" ? "O=[N+][O-]" : state.run.kind === "sentence" ? "not … good" : "#12:0,3,4" });
  const label = h("select", { id: "part-class" }, h("option", { value: "" }, "the class that has it most often"), state.run.classes.map((name) => h("option", { value: name }, name)));
  return h("section", { class: "edits", "aria-label": "Edits" },
    h("p", { class: "eyebrow" }, `Validation accuracy on ${made.n} ${state.run.noun}s that the model was not trained on`),
    h("p", { class: "accuracy", id: "accuracy", "aria-live": "polite" },
      made.history.length ? `${percent(made.original)} → ${percent(made.now)}` : percent(made.now),
      made.history.length ? h("span", { class: "muted small" }, ` ${moved >= 0 ? "+" : "−"}${Math.abs(100 * moved).toFixed(1)} points since the run was opened`) : null),
    made.history.length ? h("ol", { "aria-label": "History" }, made.history.map((step) => h("li", {}, step.done.join("; "),
      h("span", { class: "muted" }, ` ${percent(step.before)} → ${percent(step.after)}`)))) : h("p", { class: "muted small" }, "Remove a prototype that you object to: the last layer is refitted at once. The test set is not used."),
    made.notes?.map((note) => h("p", { class: "warning" }, note)),
    h("div", { class: "chips", "data-live": true },
      h("button", { type: "button", id: "undo", disabled: !made.history.length, onclick: undo }, "Undo"),
      made.history.length ? h("a", { class: "button", href: "/api/edited.zip", download: "edited-run.zip" }, "Download the edited run") : null),
    h("form", { "data-live": true, onsubmit: (event) => { event.preventDefault(); edit({ action: "add", part: label.value ? `${label.value}: ${field.value}` : field.value }); } },
      h("div", { class: "field grow" }, h("label", { for: "part" }, `Add a part that training ${state.run.noun}s have`), field),
      h("div", { class: "field" }, h("label", { for: "part-class" }, "for"), label),
      h("button", { type: "submit" }, "Add")));
}

function replace(number) {
  const card = root.querySelector(`[data-prototype="${number}"]`);
  if (card.querySelector("form")) return;
  const field = h("input", { "aria-label": "The part to put in its place", maxlength: 1000, autocomplete: "off" });
  card.append(h("form", { class: "chips", "data-live": true, onsubmit: (event) => { event.preventDefault(); edit({ action: "replace", prototype: number, part: field.value }); } },
    field, h("button", { type: "submit" }, "Replace")));
  field.focus();
}

const edit = (wanted) => change("/api/edits", wanted);
const undo = () => change("/api/undo", {});

async function change(address, content) {
  say("Refitting …");
  for (const button of root.querySelectorAll("button")) button.disabled = true;
  try {
    const done = await post(address, content);
    forget();
    await refresh();
    render(await prototypes(), "");
    say(`${done.done.join("; ")}: validation accuracy ${percent(done.before)} → ${percent(done.after)}`);
    root.querySelector("#accuracy")?.scrollIntoView({ block: "nearest" });
  } catch (problem) {
    for (const button of root.querySelectorAll("button")) button.disabled = false;
    say(problem.message, true);
  }
}
