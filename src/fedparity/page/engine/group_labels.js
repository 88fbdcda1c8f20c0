// From the labels of a table to the groups of a plan: Python's tables/groups.py.

import { BAD_DATA, PageError, listedLabels, shortened, shownLabel } from "./page_errors.js";

const MOST_UNLISTED = 1000;
const MOST_RELABELED = 100_000;
const SPACES = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const OUTER_SPACES = new RegExp(`^${SPACES}+|${SPACES}+$`, "gu");
const DOTLESS_I = "\u0131";

/** What labels of different case have in common, as Python's `casefold` sees it; without outer spaces. */
export function foldedLabel(text) {
  const fold = (c) => (c === DOTLESS_I ? c : [...c.toLowerCase().toUpperCase()].map(lowered).join(""));
  return [...text.replace(OUTER_SPACES, "")].map(fold).join("");
}

function lowered(character) {
  return character.toLowerCase();
}

/** What became of a label that no group has. */
export const UNLISTED_LABEL = -1;
export const MISSING_LABEL = -2;

/**
 * The groups of a plan, and which labels are read as one of them.
 *
 * `columns` are the names of the group columns; `plan.groupKeys` has the texts of each group, one per
 * column, and `plan.parts` says per column which texts are listed, what else is read as one of them, and
 * which takes records without a label.
 */
export class GroupListing {
  constructor(plan, columns, { map = {}, other = null } = {}) {
    this.groups = plan.groups;
    this.columns = columns;
    this.map = new Map(Array.isArray(map) ? map : Object.entries(map));
    this.other = other === "" ? null : other;
    this.codes = new Map(plan.groupKeys.map((key, code) => [JSON.stringify(key), code]));
    this.parts = plan.parts.map((part) => ({
      texts: new Set(part.texts),
      readAs: new Map(part.readAs),
      missing: part.missing,
      folded: new Set(part.texts.map(foldedLabel)),
    }));
    this.unlisted = new Map();
    this.relabeled = new Map();
    this.refuseWrongColumns(plan);
    this.refuseUnlistedTargets();
  }

  /** The code of the group of a record with these labels (null where one is missing), or why it has none. */
  codeOf(key) {
    const resolved = this.resolved(key);
    const code = this.codes.get(JSON.stringify(resolved));
    if (code !== undefined) return code;
    return resolved.includes(null) ? MISSING_LABEL : UNLISTED_LABEL;
  }

  /** Which group of another name a key counts as, and why; null if it keeps its name. */
  relabelingOf(key) {
    const resolved = this.resolved(key);
    const code = this.codes.get(JSON.stringify(resolved));
    if (code === undefined || key.every((part, i) => part === resolved[i])) return null;
    return { label: shownKey(key), group: this.groups[code], reason: this.reasonFor(key) };
  }

  reasonFor(key) {
    if (key.some((part) => this.map.has(part ?? ""))) return "map";
    if (key.includes(null)) return "missing";
    return this.parts.every((part, i) => part.readAs.has(key[i])) ? "spelling" : "other";
  }

  /** Count records whose label no group has. */
  addUnlisted(key, count) {
    const text = shownKey(key) ?? "";
    this.unlisted.set(text, (this.unlisted.get(text) ?? 0) + count);
    if (this.unlisted.size > MOST_UNLISTED) throw this.tooManyLabels();
  }

  /** Count records whose group has another name than their label. */
  addRelabeled(key, count) {
    const found = this.relabelingOf(key);
    if (!found) return;
    const name = JSON.stringify([found.label, found.group]);
    const known = this.relabeled.get(name);
    if (known) known.rows += count;
    else if (this.relabeled.size < MOST_RELABELED) this.relabeled.set(name, { ...found, rows: count });
  }

  resolved(key) {
    return key.map((label, i) => this.resolvedPart(this.parts[i], this.mapped(label)));
  }

  mapped(label) {
    const name = label ?? "";
    return this.map.has(name) ? this.map.get(name) : label;
  }

  resolvedPart(part, label, other = this.other) {
    if (label === null) return part.missing;
    if (part.readAs.has(label)) return part.readAs.get(label);
    if (other === null || !part.readAs.has(other)) return label;
    // A label that differs only by case or spaces must not vanish among the others unseen.
    return part.folded.has(foldedLabel(label)) ? label : other;
  }

  refuseWrongColumns(plan) {
    const wide = plan.parts.length;
    if (this.columns.length === wide) return;
    throw new PageError(
      `the group ${shownLabel(plan.groups[0])} does not have one part for each of the ` +
        `${this.columns.length} group columns, ${listedLabels(this.columns)}.`,
      { fix: "name as many group columns as the plan's groups have parts, in the same order." },
    );
  }

  refuseUnlistedTargets() {
    const texts = new Set(this.parts.flatMap((part) => [...part.texts]));
    if (this.other !== null && !texts.has(this.other)) {
      throw new PageError(
        `the group ${shownLabel(this.other)}, named to take all other labels, is not among ` +
          `${listedLabels([...texts])}.`,
        { fix: "name one of the plan's groups, or add it to the plan." },
      );
    }
    for (const target of this.map.values()) {
      const known = this.parts.some((part) => texts.has(this.resolvedPart(part, target, null)));
      if (texts.has(target) || known) continue;
      throw new PageError(
        `labels are mapped to ${shownLabel(shortened(target))}, which is not among ${listedLabels([...texts])}.`,
        { fix: "map them to one of the plan's groups." },
      );
    }
  }

  tooManyLabels() {
    return new PageError(
      `${listedLabels(this.columns)} contains more than 1,000 labels that are not groups of the plan.`,
      {
        fix: "choose the column of the groups, not one that differs in every record, or let all other labels count as one group.",
        code: BAD_DATA,
      },
    );
  }
}

/** The labels of a record on one line; null if all of them are missing. */
export function shownKey(key) {
  return key.some((part) => part) ? key.map((part) => part ?? "").join(" & ") : null;
}
