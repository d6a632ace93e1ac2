// The head of the page: which run this is, and how good.
import { get } from "./api.js";
import { count, percent } from "./dom.js";
import { state } from "./state.js";

function about(run) {
  const scored = run.scores.test ?? run.scores.valid;
  const parts = [
    `${run.classes.length} classes of ${run.noun}s`,
    count(run.prototypes, "prototype"),
    scored && `${run.scores.test ? "test" : "validation"} accuracy ${percent(scored.accuracy)} on ${count(scored.n, run.noun)}`,
    run.data && `trained on ${run.data}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

export async function refresh() {
  state.run = await get("/api/run");
  document.getElementById("run-name").textContent = state.run.name + (state.run.edited ? ", edited" : "");
  document.getElementById("run-about").textContent = about(state.run);
}
