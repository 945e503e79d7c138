"use strict";

// Everything is made with textContent: nothing of the description is ever read as HTML.
const make = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};

const resolve = (document_, schema, depth = 0) => {
  if (!schema || depth > 6) return schema;
  if (schema.$ref) return resolve(document_, document_.components.schemas[schema.$ref.split("/").pop()], depth + 1);
  return schema;
};

// A small example of what a schema describes.
const sample = (document_, schema, depth = 0) => {
  schema = resolve(document_, schema) ?? {};
  if (schema.example !== undefined) return schema.example;
  if (depth > 5) return "…";
  const variant = (schema.oneOf ?? schema.anyOf)?.find((one) => one.type !== "null");
  if (variant) return sample(document_, variant, depth + 1);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => sample(document_, one, depth + 1)));
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  if (type === "array") return [sample(document_, schema.items, depth + 1)];
  if (type === "object" || schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, one]) => [name, sample(document_, one, depth + 1)]));
  }
  if (type === "integer" || type === "number") return schema.minimum ?? 0;
  if (type === "boolean") return true;
  return schema.format === "date-time" ? "2026-01-31T12:00:00Z" : "text";
};

const json = (document_, schema) => make("pre", JSON.stringify(sample(document_, schema), null, 2));

const describe = (document_, operation) => {
  const list = make("dl");
  const add = (term, ...definitions) => {
    list.append(make("dt", term));
    for (const definition of definitions) {
      const dd = make("dd");
      dd.append(definition);
      list.append(dd);
    }
  };
  if (operation.description) add("What it does", operation.description);
  add("Callers and right", `${(operation["x-qala-callers"] ?? []).join(", ")} · ${operation["x-qala-right"] ?? "-"}`);
  if (operation.parameters?.length) {
    add("Parameters", ...operation.parameters.map((one) => `${one.name} (${one.in}${one.required ? "" : ", optional"}) ${one.description ?? ""}`));
  }
  const body = operation.requestBody?.content;
  if (body) for (const [type, content] of Object.entries(body)) add(`Body, ${type}`, json(document_, content.schema));
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    const content = response.content && Object.values(response.content)[0];
    const shown = status.startsWith("2") && content?.schema ? [json(document_, content.schema)] : [];
    add(status, response.description ?? "", ...shown);
  }
  return list;
};

const show = (document_) => {
  document.getElementById("about").textContent = document_.info.description;
  const groups = new Map();
  for (const [path, item] of Object.entries(document_.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (!operation.responses) continue;
      const group = operation.tags?.[0] ?? "other";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push({ path, method: method.toUpperCase(), operation });
    }
  }
  const main = document.getElementById("operations");
  for (const [group, operations] of groups) {
    const section = make("section");
    section.append(make("h2", group));
    for (const { path, method, operation } of operations) {
      const details = make("details");
      details.dataset.text = `${method} ${path} ${operation.summary ?? ""} ${operation["x-qala-right"]}`.toLowerCase();
      const summary = make("summary");
      summary.append(make("span", method, "method"), make("code", path), make("span", operation.summary ?? ""));
      summary.append(make("span", (operation["x-qala-callers"] ?? []).join(" "), "callers"));
      details.append(summary);
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(describe(document_, operation));
      });
      section.append(details);
    }
    main.append(section);
  }
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const details of main.querySelectorAll("details")) details.hidden = !details.dataset.text.includes(wanted);
  });
};

fetch("/openapi.json")
  .then((response) => response.json())
  .then(show)
  .catch((error) => { document.getElementById("about").textContent = `The description could not be loaded: ${error}`; });
