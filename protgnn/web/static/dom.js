// Elements without markup in strings: whatever a text says, it stays text.

/** An element with attributes and children; `on…` attributes are listeners, null children are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An SVG of the server's as an element. It is read as XML, which runs nothing. */
export function picture(text) {
  if (!text) return null;
  const named = text.includes("xmlns=") ? text : text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ');
  const root = new DOMParser().parseFromString(named, "image/svg+xml").documentElement;
  return root.tagName === "svg" ? document.importNode(root, true) : null;
}

/** The bodies that pictures refer to, as a hidden element to be put beside them. */
export function bodies(defs) {
  const hidden = picture(`<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0">${defs}</svg>`);
  hidden.setAttribute("class", "bodies");
  hidden.setAttribute("aria-hidden", "true");
  return hidden;
}

/** An SVG element of our own. */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** A number with its sign, with a minus as wide as the plus. */
export const signed = (value) => (value < -0.005 ? "−" : "+") + Math.abs(value).toFixed(2);

/** A similarity: 1.25, or of a sum over places 2 × 1.25: their number, and what each has on average. */
export function similarity({ similarity: value, counted }) {
  return counted > 1 ? `${counted} × ${(value / counted).toFixed(2)}` : value.toFixed(2);
}

export const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
export const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** Say something to those who listen, and to those who look at the foot of the page. */
export function say(text, isError = false) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("error", isError);
  status.classList.toggle("shown", Boolean(text));
}
