// What is shown as one file that needs nothing else: no script, no server, no network.
import { say } from "./dom.js";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

function styles() {
  return [...document.styleSheets].map((sheet) => [...sheet.cssRules].map((rule) => rule.cssText).join("\n")).join("\n");
}

/** The page as it stands: fields become what is written in them, buttons and editors go. */
function snapshot() {
  const copy = document.documentElement.cloneNode(true);
  const fields = "input, textarea, select";
  const originals = [...document.querySelectorAll(fields)];
  [...copy.querySelectorAll(fields)].forEach((field, number) => {
    const original = originals[number];
    const text = original.tagName === "SELECT" ? original.selectedOptions[0]?.textContent ?? "" : original.value;
    const shown = document.createElement("span");
    shown.className = "written";
    shown.textContent = original.type === "file" ? "" : text;
    field.replaceWith(shown);
  });
  for (const gone of copy.querySelectorAll("script, link, noscript, [data-live], button, .editor, [hidden]")) gone.remove();
  for (const anchor of copy.querySelectorAll("a[href]")) anchor.removeAttribute("href");
  const head = copy.querySelector("head");
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = POLICY;
  const style = document.createElement("style");
  style.textContent = styles();
  head.append(policy, style);
  return "<!doctype html>\n" + copy.outerHTML;
}

export function savePage(view) {
  const address = URL.createObjectURL(new Blob([snapshot()], { type: "text/html" }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = `protgnn-${view}.html`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  say(`Saved as ${anchor.download}: it opens in any browser, without the explorer.`);
}
