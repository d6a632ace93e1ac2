// What the page asks of the server that it came from; nothing is asked of any other.

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

async function answered(response) {
  if (response.ok) return response.json();
  let message = `The explorer answered with status ${response.status}`;
  try { message = (await response.json()).error || message; } catch { /* no JSON: the status must do */ }
  throw new Refused(response.status, message);
}

async function reached(address, options) {
  try { return await fetch(address, options); }
  catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Refused(0, "The explorer does not answer: is `protgnn explore` still running?");
  }
}

const sent = { "x-protgnn": "explorer" };

export const get = async (address) => answered(await reached(address, { headers: sent }));

export const post = async (address, content, signal) =>
  answered(await reached(address, {
    method: "POST",
    headers: { ...sent, "content-type": "application/json" },
    body: JSON.stringify(content),
    signal,
  }));

export const upload = async (file) =>
  answered(await reached("/api/uploads", {
    method: "POST",
    headers: { ...sent, "content-type": "application/octet-stream", "x-file-name": encodeURIComponent(file.name) },
    body: file,
  }));
