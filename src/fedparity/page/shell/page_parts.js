// Elements of the page, made without any text becoming markup.

const DRAWING = "http://www.w3.org/2000/svg";

/** An element of the page by its id. */
export function part(id) {
  return document.getElementById(id);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A new element. */
export function made(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** A new element of a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(DRAWING, tag), attributes, children);
}

/** The label of a group as people read it. */
export function groupWords(group) {
  return Array.isArray(group) ? group.join(" & ") : String(group);
}

/** A table with a heading for each column; cells of numbers are aligned right. */
export function tableOf(caption, heads, rows) {
  const isRight = (place) => place > 0 && rows.some((row) => isNumeric(row[place]));
  const head = made("tr", {}, ...heads.map((text, place) => made("th", { scope: "col", class: isRight(place) ? "number" : "" }, text)));
  const body = rows.map((row) => made("tr", {}, ...row.map((cell, place) => tableCell(cell, place))));
  return made("table", {}, made("caption", { class: "sr" }, caption), made("thead", {}, head), made("tbody", {}, ...body));
}

function tableCell(cell, place) {
  if (place === 0) return made("th", { scope: "row" }, cell);
  return made("td", isNumeric(cell) ? { class: "number" } : {}, cell);
}

function isNumeric(cell) {
  return typeof cell === "string" && /^[-\d]/.test(cell);
}

/** A list of choices; each is [value, words]. */
export function choices(id, options, chosen = "") {
  const select = made("select", { id }, ...options.map(([value, words]) => made("option", { value }, words)));
  select.value = chosen;
  return select;
}

/** Save bytes as a file. */
export function saveFile(name, bytes, type) {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  const link = made("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
