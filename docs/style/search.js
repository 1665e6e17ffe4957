// Search in the sections of all pages. They are in search_index.js, loaded when the field is first used.
"use strict";
const MOST = 12, AROUND = 70;

function plain(text) { return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase(); }

// Sections that contain all words, best first: [{ section, score, at }], at: where in the text the first word is.
function found(sections, query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const made = [];
  for (const section of sections) {
    const heading = plain(section.heading), page = plain(section.page), text = plain(section.text);
    let score = 0, at = -1;
    for (const word of words) {
      const own = heading.includes(word) ? (heading.split(/[^a-z0-9_]+/).includes(word) ? 20 : 10) : 0;
      const count = text.split(word).length - 1, here = own + (page.includes(word) ? 4 : 0) + Math.min(count, 5);
      if (!here) { score = 0; break; }
      if (at < 0) at = text.indexOf(word);
      score += here;
    }
    if (!score) continue;
    const reference = section.address.startsWith("reference/"); // explanations first
    if (reference) score *= 0.7;
    if ([words.join(" "), words.join("_")].includes(heading)) score += reference ? 3 : 40;
    made.push({ section, score: score - heading.length / 100, at });
  }
  return made.sort((a, b) => b.score - a.score).slice(0, MOST);
}

function line(tag, text) { const made = document.createElement(tag); made.textContent = text; return made; }

function start(box) {
  const field = box.querySelector("input"), list = box.querySelector("ol"), base = box.dataset.base;
  let loaded = null;
  const load = () => loaded ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${base}/search_index.js`;
    script.onload = done;
    document.head.append(script);
  });
  const show = async () => {
    await load();
    const results = found(SECTIONS, field.value);
    list.replaceChildren(...results.map(({ section, at }) => {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = `${base}/${section.address}`;
      const from = Math.max(0, at - AROUND), text = section.text.slice(from, from + 2 * AROUND);
      link.append(line("strong", section.heading), line("small", section.page === section.heading ? "" : section.page));
      if (text) link.append(line("span", `${from ? "… " : ""}${text} …`));
      item.append(link);
      return item;
    }));
    if (field.value.trim() && !results.length) list.replaceChildren(line("li", "Nothing found."));
    list.hidden = !field.value.trim();
  };
  const step = (event) => {
    const links = [...list.querySelectorAll("a")], here = links.indexOf(document.activeElement);
    if (event.key === "Escape") { field.value = ""; list.hidden = true; field.focus(); }
    else if (event.key === "Enter" && here < 0 && links.length) location.href = links[0].href;
    else if (event.key === "ArrowDown") (links[here + 1] ?? links[0])?.focus();
    else if (event.key === "ArrowUp") (links[here - 1] ?? field).focus();
    else return;
    event.preventDefault();
  };
  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  box.addEventListener("keydown", (event) => { if (event.key !== "Enter" || event.target === field) step(event); });
}

if (typeof document !== "undefined") start(document.getElementById("search"));
