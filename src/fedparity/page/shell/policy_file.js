// The silo's policy: every key is known, as in Python's documents/policy_file.py; what the page asks of it is kept.

import { PageError, REFUSED_BY_RULE, isName, listedLabels, quoted, sixDigits } from "../engine/page_errors.js";
import { parse } from "../vendor/smol-toml/parse.js";

const SCHEMA = "fedparity/policy/1";
const MODES = ["none", "dp", "secure", "secure+dp"];
const MOST = 10n ** 12n;

const isFlag = (value) => typeof value === "boolean";
const isText = (value) => typeof value === "string" && value !== "";
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const isNumber = (value) => typeof value === "number" || typeof value === "bigint";
const isWhole = (least) => (value) => typeof value === "bigint" && value >= least && value <= MOST;
const isPositive = (value) => isNumber(value) && value > 0 && Number(value) < Infinity;
const isShare = (value) => isNumber(value) && value >= 0 && value <= 0.1;
const isNames = (value) => Array.isArray(value) && value.every(isName) && new Set(value).size === value.length;
const isModes = (value) => isNames(value) && value.length > 0 && value.every((mode) => MODES.includes(mode));
const isKey = (value) => typeof value === "string" && /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(value);
const isTable = (value) => typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
const isPatterns = (value) => isTexts(value) && value.length > 0;

const TOP = { modes: isModes, overrides: isFlag, other_grids: isFlag, without_ledger: isFlag, page: isFlag };
const TABLES = {
  floors: {
    minimum_cell: isWhole(1n),
    records_per_level: isWhole(0n),
    rounding_mean: isShare,
    rounding_quantile: isShare,
    levels: isWhole(1n),
    thresholds: isWhole(0n),
  },
  epsilon: { release: isPositive, year: isPositive },
  secure: { without_keys: isFlag, unknown_silos: isFlag },
  approval: { people: isNames, needed: (value) => isWhole(1n)(value) && value <= 2n },
  ledger: { file: isText, must_exist: isFlag },
};
const NAMED = { datasets: isPatterns, auditors: isKey, silos: isKey };

/** The policy of a silo without a file of its own. */
export function defaultPolicy(defaults) {
  return {
    ...defaults, modes: MODES, auditors: {}, datasets: {}, people: [], ledger: null, name: "the default policy",
  };
}

/** The policy of a TOML text; `name` is the file's. */
export function policyOf(text, name, defaults) {
  const document = parsedToml(text.replace(/^\ufeff/, ""), name);
  if (document.schema !== SCHEMA) {
    throw mistake(name, `the policy has no line schema = "${SCHEMA}".`, "add it as the first line.");
  }
  delete document.schema;
  checkKeys(document, name);
  const { floors = {}, approval = {}, ledger = {}, auditors = {}, datasets = {}, ...top } = document;
  const { rounding_mean: mean, rounding_quantile: quantile, ...least } = floors;
  const people = approval.people ?? [];
  const needed = Number(approval.needed ?? (people.length ? 1 : 0));
  if (needed > people.length) {
    throw mistake(name, `[approval] needs ${needed} people, and names ${people.length}.`, "list them.");
  }
  const numbers = Object.fromEntries(Object.entries(least).map(([rule, value]) => [rule, Number(value)]));
  const rounding = { ...defaults.rounding };
  if (mean !== undefined) rounding.mean = Number(mean);
  if (quantile !== undefined) rounding.quantile = Number(quantile);
  return {
    ...defaultPolicy(defaults), without_ledger: false, ...top, ...numbers, rounding, people, needed, auditors, datasets,
    ledger: ledger.file ?? null, must_exist: ledger.must_exist ?? false, name: `the policy ${name}`,
  };
}

function parsedToml(text, name) {
  try {
    return parse(text, { integersAsBigInt: true });
  } catch (error) {
    const place = error.line ? `line ${error.line}: ` : "";
    throw mistake(name, `${place}this is not TOML.`, "write it as TOML: key = value, texts between quotes.");
  }
}

function checkKeys(document, name) {
  for (const [key, value] of Object.entries(document)) {
    if (Object.hasOwn(TOP, key)) {
      checkValue(TOP[key], value, key, name);
      continue;
    }
    if (!Object.hasOwn(TABLES, key) && !Object.hasOwn(NAMED, key)) throw unknownKey(key, name);
    checkValue(isTable, value, key, name);
    for (const [inner, held] of Object.entries(value)) {
      const check = Object.hasOwn(NAMED, key) ? isName(inner) && NAMED[key] : Object.hasOwn(TABLES[key], inner) && TABLES[key][inner];
      if (!check) throw unknownKey(`${key}.${inner}`, name);
      checkValue(check, held, `${key}.${inner}`, name);
    }
  }
}

function checkValue(check, value, key, name) {
  if (!check(value)) throw mistake(name, `${key} has a value that it may not have.`, "run fedparity policy check, which says more.");
}

function unknownKey(key, name) {
  return mistake(name, `${quoted(key)} is not a key of a policy.`, "remove it, or run fedparity policy check, which says more.");
}

function mistake(name, message, fix) {
  return new PageError(`${name}: ${message}`, { fix });
}

/** Raise if the policy forbids the page, or a plan; `asks` is what the plan states of each rule. */
export function checkPolicy(policy, { asks, engine }) {
  if (!policy.page) {
    throw refused(`${policy.name} does not allow the page that sketches in a browser.`, "use the command: fedparity sketch PLAN DATA --silo NAME.");
  }
  const texts = policy.modes.includes("none")
    ? []
    : [`it requests no [privacy], allowed is ${policy.modes.join(" or ")} (rule mode)`];
  texts.push(...below("minimum_cell", asks.minimum_cell, policy.minimum_cell));
  texts.push(...below("records_per_level", asks.records_per_level, policy.records_per_level));
  texts.push(...above("thresholds", asks.thresholds, policy.thresholds));
  if (engine.kind !== "counts") {
    texts.push(...below("rounding", asks.rounding, policy.rounding[engine.kind]));
    texts.push(...above("levels", asks.levels, policy.levels));
  }
  if (texts.length) {
    throw refused(
      `${policy.name} does not allow this plan: ${texts.join("; ")}.`,
      "ask the auditor for a plan that obeys the rules; the page takes no override, the command fedparity sketch may.",
    );
  }
}

function below(rule, value, floor) {
  return value < floor ? [`${rule} is ${sixDigits(value)}, the least is ${sixDigits(floor)}`] : [];
}

function above(rule, value, most) {
  return value > most ? [`${rule} is ${sixDigits(value)}, the most is ${sixDigits(most)}`] : [];
}

/** The data set of the records: the page knows no path, so the operator names it where a policy has some. */
export function datasetOf(policy, named) {
  const known = Object.keys(policy.datasets);
  if (named && !known.includes(named)) {
    const words = known.length ? `one of ${listedLabels(known)}` : "no name";
    throw refused(`${policy.name} knows no data set ${quoted(named)}.`, `give ${words}, or add it to [datasets] of the policy.`);
  }
  if (named || !known.length) return named || null;
  throw refused(
    `${policy.name} does not say which data set this table is: the page does not see its path.`,
    `write its name in the field of the data set: ${listedLabels(known)}.`,
  );
}

/** An error of a rule. */
export function refused(message, fix) {
  return new PageError(message, { fix, code: REFUSED_BY_RULE });
}
