// Ask: draw or type, see the prediction and its reasoning at once, change something, see what that did.
import { post } from "./api.js";
import { bodies, h, picture, say } from "./dom.js";
import { moleculeEditor } from "./editor.js";
import { changes, reasoning, verdict } from "./reasoning.js";
import { link, prototypes, state } from "./state.js";

const WAIT = 250; // milliseconds after the last key until what is typed is asked

let view = null;

export async function showAsk(root, values, changed) {
  if (!changed && view && view.root === root && values.text !== undefined && values.text === view.text) return;
  view?.editor?.destroy();
  view = { root, text: null, before: null, timer: null, asking: null, editor: null, picked: null };
  root.replaceChildren(frame());
  if (values.row !== undefined) await askRow(values.rows ?? "held-out", Number(values.row));
  else {
    const text = values.text ?? state.asked ?? state.run.examples[0]?.text ?? "";
    view.field.value = text;
    if (text) await ask(text);
  }
}

const HINTS = {
  molecule: ["Molecule, as SMILES", "CC(=O)Nc1ccc(O)cc1"],
  sentence: ["Sentence", "a film that is not bad at all"],
};

function frame() {
  const { run } = state;
  const [label, hint] = run.targets === 1 ? ["Node, by its id", "node 7"]
    : run.targets === 2 ? ["Two nodes, separated by a comma", "node 7, node 12"]
    : HINTS[run.kind] ?? ["Choose a row in the table", ""];
  view.field = h("textarea", { id: "question", rows: 2, spellcheck: "false", autocomplete: "off", placeholder: hint, maxlength: 4000,
    disabled: !run.takes_text,
    oninput: () => later(view.field.value),
    onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); ask(view.field.value); } } });
  view.problem = h("p", { class: "warning", role: "alert", hidden: true });
  view.drawing = h("div", { class: "drawing" });
  view.answer = h("div", { class: "answer", "aria-busy": "false" });
  view.changed = h("div");
  const drawable = run.kind === "molecule" && !run.targets;
  view.canvas = h("div", { class: "editor", hidden: true });
  view.draw = drawable && run.editor ? h("button", { type: "button", "aria-pressed": "false", onclick: toggleEditor, "data-live": true }, "Draw") : null;
  view.undo = h("button", { type: "button", onclick: back, hidden: true }, "Undo change");
  return h("div", { class: "ask" },
    h("section", { class: "question", "aria-label": "Question" },
      h("label", { for: "question" }, label), view.field,
      h("div", { class: "chips", "data-live": true }, view.draw, view.undo,
        run.examples.map((one) => h("button", { type: "button", class: "chip", onclick: () => start(one.text) }, one.name))),
      view.problem,
      view.canvas, view.drawing,
      drawable ? h("p", { class: "muted small" }, run.editor ? "Click an atom to remove it, or draw."
        : "Click an atom to remove it. With npm, `python -m protgnn.web.vendor` adds a molecule editor.") : null,
      run.targets ? h("p", { class: "muted small" }, run.targets === 1 ? "Click a node to ask about it." : "Click two nodes to ask about the pair.") : null,
      view.changed),
    view.answer);
}

function later(text) {
  clearTimeout(view.timer);
  view.timer = setTimeout(() => ask(text), WAIT);
}

/** Ask about something new: there is nothing to compare with. */
function start(text) {
  view.text = null;
  view.field.value = text;
  ask(text);
}

function back() {
  const before = view.before;
  if (before === null) return;
  view.field.value = before;
  ask(before);
}

async function ask(text) {
  clearTimeout(view.timer);
  text = text.trim();
  if (!text || text === view.text) return;
  const own = view;
  const before = own.text;
  own.asking?.abort();
  own.asking = new AbortController();
  own.answer.setAttribute("aria-busy", "true");
  try {
    const [answer, sheet] = await Promise.all([
      post("/api/ask", { text, ...(before ? { before } : {}) }, own.asking.signal), prototypes()]);
    if (own !== view) return;
    if (answer.problem) { complain(answer.problem); return; }
    own.text = text;
    own.before = before;
    state.asked = text;
    history.replaceState(null, "", link("ask", { text }));
    own.editor?.set(text);
    show(answer, sheet);
    own.answer.dataset.asked = text;
  } catch (problem) {
    if (problem.name !== "AbortError" && own === view) complain(problem.message);
  } finally {
    if (own === view) own.answer.setAttribute("aria-busy", "false");
  }
}

async function askRow(rows, row) {
  const [answer, sheet] = await Promise.all([post("/api/ask", { place: { rows, row } }), prototypes()]);
  if (answer.problem) return complain(answer.problem);
  view.field.value = answer.text ?? answer.title;
  view.text = answer.text;
  state.asked = answer.text;
  show(answer, sheet);
}

function complain(message) {
  view.problem.textContent = message;
  view.problem.hidden = false;
  view.answer.classList.add("stale");
}

function show(answer, sheet) {
  view.problem.hidden = true;
  view.answer.classList.remove("stale");
  view.undo.hidden = view.before === null;
  const drawn = picture(answer.input);
  view.drawing.replaceChildren(bodies(answer.defs), drawn ?? "", answer.note ? h("p", { class: "muted small" }, answer.note) : "");
  if (drawn) makeSpots(drawn, answer);
  view.changed.replaceChildren(changes(answer.changed) ?? "");
  view.answer.replaceChildren(verdict(answer), reasoning(answer, sheet));
  say(`${state.run.classes[answer.predicted]}, probability ${answer.probabilities[answer.predicted].toFixed(2)}`);
}

/** Nodes of the picture become buttons: of a molecule an atom is taken out, of a network a node is asked about. */
function makeSpots(drawn, answer) {
  const network = answer.nodes !== null;
  const molecule = state.run.kind === "molecule" && !state.run.targets && answer.text;
  if (!network && !molecule) return;
  drawn.removeAttribute("role");
  drawn.classList.add("clickable");
  for (const spot of drawn.querySelectorAll(".spot")) {
    const node = Number(spot.dataset.node);
    const name = network ? `Ask about ${answer.nodes[node]}` : `Take out atom ${node}`;
    spot.setAttribute("role", "button");
    spot.setAttribute("tabindex", "0");
    spot.setAttribute("aria-label", name);
    const act = () => (network ? pick(spot, answer.nodes[node]) : takeOut(answer.text, node));
    spot.addEventListener("click", act);
    spot.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); }
    });
  }
}

function pick(spot, name) {
  if (state.run.targets === 1) return start(name);
  if (view.picked === null || view.picked === name) {
    view.picked = name;
    spot.classList.add("picked");
    return say(`${name}: now choose the second node`);
  }
  const pair = `${view.picked}, ${name}`;
  view.picked = null;
  return start(pair);
}

async function takeOut(text, atom) {
  try {
    const edited = await post("/api/without", { text, atom });
    view.field.value = edited.text;
    await ask(edited.text);
  } catch (problem) { complain(problem.message); }
}

async function toggleEditor() {
  const opens = view.canvas.hidden;
  view.draw.setAttribute("aria-pressed", String(opens));
  view.canvas.hidden = !opens;
  view.drawing.hidden = opens;
  if (!opens) { view.editor?.destroy(); view.editor = null; view.canvas.replaceChildren(); return; }
  try {
    view.editor = await moleculeEditor(view.canvas, view.field.value.trim(), (smiles) => {
      view.field.value = smiles;
      later(smiles);
    });
  } catch { complain("The editor cannot be loaded: type the SMILES instead"); }
}
