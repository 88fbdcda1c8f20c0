// The ledger: lines of JSON, each with the digest of the one before it, as in Python's privacy/ledger.py.

import { PageError } from "../engine/page_errors.js";
import { digestOf } from "./own_digests.js";

const NEEDED = {
  begin: [],
  release: ["previous", "plan", "silo", "release", "message", "view"],
  void: ["previous", "release", "because"],
  approval: ["previous", "plan", "by", "because"],
  torn: ["previous", "text"],
};
const OPTIONAL = {
  begin: ["because", "previous"],
  release: ["dataset", "table", "replaces", "in_period", "epsilon", "budget", "file", "staged", "because", "weaker", "reading", "rows"],
  void: [],
  approval: [],
  torn: [],
};

const isText = (value) => typeof value === "string";
const isList = (value) => Array.isArray(value);
const isObject = (value) => typeof value === "object" && value !== null && !isList(value);
const isNumber = (value) => Number.isFinite(value);
const isLoss = (value) => isNumber(value) && value > 0;
const isCount = (value) => Number.isInteger(value) && value >= 0;
const isPart = (value) => isText(value) || typeof value === "boolean" || Number.isInteger(value);
const isLabel = (value) => isPart(value) || (isList(value) && value.every(isPart));
const listOf = (check) => (value) => isList(value) && value.every(check);
const isTime = (value) => isText(value) && /(?:Z|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value));
const isDay = (value) => isText(value) && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
const isPeriod = (value) => value === null || (isList(value) && value.length === 2 && value.every(isDay) && value[0] <= value[1]);
const VIEW = {
  title: isText, mode: isText, sketch: isText, groups: listOf(isLabel), levels: isNumber, thresholds: listOf(isNumber),
  grid: listOf((value) => value === null || isNumber(value)), period: isPeriod,
};
const FURTHER = { axes: isList, outcome: isObject };
const READING = {
  score: isText, weight: isText, where: isText, other: isText, missing: isText, group: listOf(isText),
  map: (value) => isObject(value) && Object.values(value).every(isText),
};
const RELABELED = {
  label: (value) => value === null || isText(value), group: isLabel, rows: isCount,
  reason: (value) => ["map", "other", "missing", "spelling"].includes(value),
};
const ROWS = { read: isCount, filtered: isCount, without_score: isCount, weightless: isCount, relabeled: listOf((value) => holds(value, RELABELED)) };
const CHECKS = {
  time: isTime, view: (value) => holds(value, VIEW, FURTHER), in_period: (value) => typeof value === "boolean", epsilon: isLoss,
  budget: isLoss, weaker: listOf(isText), reading: (value) => holds(value, {}, READING), rows: (value) => holds(value, ROWS),
};

/** Whether an object has all fields that are needed, no unknown one, and in each what it may hold. */
function holds(found, needed, optional = {}) {
  const known = { ...needed, ...optional };
  return isObject(found)
    && Object.keys(needed).every((name) => Object.hasOwn(found, name))
    && Object.entries(found).every(([name, value]) => Object.hasOwn(known, name) && known[name](value));
}

function isEntry(found) {
  if (!isObject(found) || !Object.hasOwn(NEEDED, found.entry)) return false;
  const needed = ["entry", "time", ...NEEDED[found.entry]];
  const known = [...needed, ...OPTIONAL[found.entry]];
  return needed.every((name) => name in found)
    && Object.entries(found).every(([name, value]) => known.includes(name) && (CHECKS[name] ?? isText)(value))
    && "epsilon" in found === "budget" in found;
}

/** A ledger as it was read: its bytes, its entries, and the digest of its last line. */
export class LedgerFile {
  constructor({ name, bytes = new Uint8Array(), entries = [], head = null }) {
    Object.assign(this, { name, bytes, entries, head });
  }

  /** Read all lines; raise if one is damaged, or does not continue the chain. */
  static async read(name, bytes) {
    if (bytes.length && bytes[bytes.length - 1] !== 10) {
      throw new PageError(`the last line of the ledger ${name} was not written to its end.`, {
        fix: "use the command fedparity sketch, which mends the ledger; the page does not.",
      });
    }
    const entries = [];
    let [start, head] = [0, null];
    while (start < bytes.length) {
      const end = bytes.indexOf(10, start);
      const line = bytes.subarray(start, end);
      entries.push(entryOf(line, head, name, entries.length + 1));
      head = await digestOf(line);
      start = end + 1;
    }
    return new LedgerFile({ name, bytes, entries, head });
  }

  /** The same ledger with one more line: `entry` without what chains it. */
  async with(entry) {
    const { entry: kind, time, ...rest } = entry;
    const previous = this.head === null ? {} : { previous: this.head };
    const line = pythonJson({ entry: kind, time, ...previous, ...rest });
    const added = new TextEncoder().encode(`${line}\n`);
    const bytes = new Uint8Array(this.bytes.length + added.length);
    bytes.set(this.bytes);
    bytes.set(added, this.bytes.length);
    const head = await digestOf(added.subarray(0, -1));
    return new LedgerFile({ name: this.name, bytes, entries: [...this.entries, entry], head });
  }
}

function entryOf(line, head, name, number) {
  let found = null;
  try {
    found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch {
    found = null;
  }
  const reason = !isEntry(found)
    ? "is not an entry of a ledger"
    : (found.previous ?? null) !== head && "does not continue the line before it: a line was changed or is missing";
  if (!reason) return found;
  throw new PageError(`line ${number} of the ledger ${name} ${reason}.`, {
    fix: "restore the file from a backup; see the how-to page on a lost ledger.",
  });
}

/** A text that is JSON already: numbers as Python writes them. */
export class WrittenJson {
  constructor(text) {
    this.text = text;
    this.value = JSON.parse(text);
  }
}

/** JSON as Python's `json.dumps` writes it: ASCII, with a space after commas and colons. */
function pythonJson(value) {
  if (value instanceof WrittenJson) return value.text;
  if (isList(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (isObject(value)) {
    return `{${Object.entries(value).map(([name, held]) => `${pythonJson(name)}: ${pythonJson(held)}`).join(", ")}}`;
  }
  return JSON.stringify(value).replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
