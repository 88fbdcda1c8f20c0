// The canonical bytes of a document (RFC 8785): the same as Python's documents/json_text.py.

/** The canonical text of a value of JSON. */
function canonicalText(value) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return canonicalNumber(value);
  if (typeof value === "string") return canonicalString(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (ArrayBuffer.isView(value)) return `[${Array.from(value, canonicalNumber).join(",")}]`;
  const names = Object.keys(value).sort(); // by UTF-16 code units
  return `{${names.map((name) => `${canonicalString(name)}:${canonicalText(value[name])}`).join(",")}}`;
}

/** The canonical bytes of a value of JSON, in UTF-8. */
export function canonicalBytes(value) {
  return new TextEncoder().encode(canonicalText(value));
}

function canonicalNumber(number) {
  if (!Number.isFinite(number)) throw new RangeError("a number of a document must be finite");
  return String(number + 0);
}

function canonicalString(text) {
  if (/[\ud800-\udfff]/u.test(text)) throw new RangeError("a text of a document has half a character");
  return JSON.stringify(text);
}
