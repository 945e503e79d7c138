"use strict";

// The page works without this script, which only hides operations that do not match the search.
const find = document.getElementById("find");
const found = document.getElementById("found");
const articles = [...document.querySelectorAll("article")];
const sections = [...document.querySelectorAll("main > section")];

const show = () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  // A path with real ids finds its operation: each segment matches a segment of the template, or a parameter.
  const path = words.find((word) => word.startsWith("/"))?.split("?")[0].split("/");
  const fits = (article) => {
    const template = article.dataset.words.split(" ")[1].split("/");
    const along = path && path.every((segment, at) => at < template.length && (template[at].startsWith("{") || template[at].startsWith(segment)));
    return words.every((word) => article.dataset.words.includes(word) || (word.startsWith("/") && along));
  };
  let count = 0;
  for (const article of articles) {
    article.hidden = !fits(article);
    count += article.hidden ? 0 : 1;
  }
  for (const section of sections) {
    const within = section.querySelectorAll("article");
    section.hidden = within.length > 0 ? [...within].every((article) => article.hidden) : words.length > 0;
  }
  found.textContent = words.length === 0 ? "" : count === 1 ? "1 operation" : `${count} operations`;
};

find.addEventListener("input", show);
find.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  articles.find((article) => !article.hidden)?.querySelector("a.anchor")?.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  find.focus();
});
// Following a link to a hidden operation ends the search.
window.addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || !target.closest("[hidden]")) return;
  find.value = "";
  show();
  target.scrollIntoView();
});
document.getElementById("search").hidden = false;
