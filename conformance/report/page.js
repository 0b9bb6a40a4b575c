// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
"use strict";
// Filters, the theme, copying a command, opening what a link leads to. The page is whole without.
(() => {
  const root = document.documentElement;
  const form = document.getElementById("filters");
  const cases = [...document.querySelectorAll(".case")];
  const words = new Map();  // of a case, in small letters, once they are asked for
  const textOf = (one) => {
    if (!words.has(one)) words.set(one, one.textContent.toLowerCase());
    return words.get(one);
  };

  function apply() {
    const grades = new Set([...form.querySelectorAll("[name=grade]:checked")].map((box) => box.value));
    const area = form.elements.area.value;
    const level = form.elements.level.value;
    const text = form.elements.text.value.trim().toLowerCase();
    let shown = 0;
    for (const one of cases) {
      const show = grades.has(one.dataset.grade) && (!area || one.dataset.area === area) &&
        (!level || one.dataset.level === level) && (!text || textOf(one).includes(text));
      one.hidden = !show;
      if (show) ++shown;
    }
    for (const part of document.querySelectorAll(".group, .group .fold"))
      part.hidden = !part.querySelector(".case:not([hidden])");
    // Whoever asks for some of many wants to see them.
    if (text || area || level)
      for (const fold of document.querySelectorAll(".group .fold:not([hidden])")) fold.open = shown <= 200;
    form.querySelector("output").textContent = `${shown} of ${cases.length} cases`;
  }

  // The filters stand in the address, so that a view can be sent to somebody.
  function remember() {
    const query = new URLSearchParams();
    const boxes = [...form.querySelectorAll("[name=grade]")];
    const off = boxes.filter((box) => !box.checked).map((box) => box.value);
    if (off.length) query.set("hide", off.join(","));
    for (const name of ["area", "level", "text"])
      if (form.elements[name].value) query.set(name, form.elements[name].value);
    history.replaceState(null, "", query.size === 0 ? "#" : `#?${query}`);
  }

  function recall() {
    if (!location.hash.startsWith("#?")) return;
    const query = new URLSearchParams(location.hash.slice(2));
    const off = (query.get("hide") || "").split(",");
    for (const box of form.querySelectorAll("[name=grade]")) box.checked = !off.includes(box.value);
    for (const name of ["area", "level", "text"]) form.elements[name].value = query.get(name) || "";
  }

  // A link may lead into something folded or filtered out.
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.hidden) {
      form.reset();
      apply();
    }
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target.scrollIntoView();
  }

  form.hidden = false;
  form.addEventListener("input", () => { apply(); remember(); });
  form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const link of document.querySelectorAll("[data-filter-area]"))
    link.addEventListener("click", () => {
      form.elements.area.value = link.dataset.filterArea;
      apply();
    });
  addEventListener("hashchange", () => { recall(); apply(); reveal(); });
  recall();
  apply();
  reveal();

  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.previousElementSibling;
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(code);  // where the browser does not let us: one key is left to press
      }
    });
  }

  // Paper cannot be unfolded. What failed and what is known to fail is printed whole.
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.case, details.frames")) part.open = true;
  });
})();
