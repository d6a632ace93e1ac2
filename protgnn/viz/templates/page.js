"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  dark.addEventListener("change", name);
  name();

  // On paper everything is open, in light colours, and afterwards as it was.
  let before = null;
  addEventListener("beforeprint", () => {
    const all = [...document.querySelectorAll("details")];
    before = { theme: root.dataset.theme, closed: all.filter((one) => !one.open) };
    all.forEach((one) => { one.open = true; });
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    before.closed.forEach((one) => { one.open = false; });
    if (before.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
    before = null;
  });

  // A link to a reasoning opens it.
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();

  const search = document.getElementById("search");
  if (!search) return;
  const buttons = [...document.querySelectorAll("button[data-filter]")];
  const items = [...document.querySelectorAll("[data-class][data-text]")];
  const said = document.getElementById("found");
  let chosen = "";
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const count = {}, all = {};
    for (const item of items) {
      const kind = item.dataset.kind;
      const fits = (!chosen || item.dataset.class === chosen) && words.every((word) => item.dataset.text.includes(word));
      item.hidden = !fits;
      all[kind] = (all[kind] || 0) + 1;
      count[kind] = (count[kind] || 0) + (fits ? 1 : 0);
    }
    for (const note of document.querySelectorAll("[data-empty]")) {
      note.hidden = [...note.parentElement.querySelectorAll("[data-text]")].some((item) => !item.hidden);
    }
    said.textContent = chosen || words.length
      ? "Shown: " + Object.keys(all).map((kind) => `${count[kind]} of ${all[kind]} ${kind}`).join(", ")
      : "";
  };
  search.addEventListener("input", filter);
  for (const button of buttons) {
    button.addEventListener("click", () => {
      chosen = button.dataset.filter;
      buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
      filter();
    });
  }
})();
