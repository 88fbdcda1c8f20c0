// All that is wrong with the rows of a table, in one error: Python's tables/row_faults.py, in its words.

import { PageError, byCodePoints, combinedErrors, countedThings, listedLabels, quoted, shortened, sixDigits, withCommas } from "./page_errors.js";
import { foldedLabel } from "./group_labels.js";

const SHOWN_LINES = 5;
const MOST_LABELS_SHOWN = 5;
/** A label of fewer records may be a value of single people, such as a name. */
const FEWEST_RECORDS_SHOWN = 11;

/** Rows with one kind of fault: how many, and where the first of them are. */
class FoundRows {
  constructor() {
    this.count = 0;
    this.lines = [];
  }

  add(line) {
    this.count += 1;
    if (line && this.lines.length < SHOWN_LINES) this.lines.push(line);
  }

  /** Where the rows are, such as " (lines 3, 17 and 12 more)"; nothing if that is unknown. */
  words() {
    if (!this.lines.length) return "";
    const more = this.count - this.lines.length;
    const shown = this.lines.map(withCommas).join(", ");
    return ` (${this.count > 1 ? "lines" : "line"} ${shown}${more ? ` and ${withCommas(more)} more` : ""})`;
  }
}

/** What was found so far in all rows; memory does not grow with them. */
export class FaultLog {
  constructor() {
    for (const kind of ["encoding", "quotes", "fields", "missing", "infinite", "outside", "unlabeled", "unlisted"]) {
      this[kind] = new FoundRows();
    }
    this.numbers = new Map();
    this.commaDecimals = 0;
    this.marks = new Set();
  }

  /** Log a field that is not a number. */
  addNumber(column, line, text, marks) {
    if (!this.numbers.has(column)) this.numbers.set(column, new FoundRows());
    this.numbers.get(column).add(line);
    if (/^[+-]?\d*,\d+$/.test(text)) this.commaDecimals += 1;
    if (marks.includes(text)) this.marks.add(text);
  }

  /** The error of all faults, or null if there is none that counts. */
  error({ score, groups, missing, scoreRange, listing }) {
    const errors = [
      ...this.textErrors(),
      ...this.scoreErrors(score, missing, scoreRange),
      ...this.labelErrors(groups, listing),
    ];
    return errors.length ? combinedErrors(errors) : null;
  }

  textErrors() {
    const errors = [];
    const { encoding, quotes, fields } = this;
    if (encoding.count) {
      errors.push(new PageError(
        `${countedThings(encoding.count, "line")} ${encoding.count === 1 ? "is" : "are"} not text in UTF-8${encoding.words()}.`,
        { fix: "choose the encoding that the file was saved in, such as Windows-1252 for one of Excel, under “How the text is written”." },
      ));
    }
    if (quotes.count) {
      errors.push(new PageError(
        `a quote is not closed in ${countedThings(quotes.count, "record")}${quotes.words()}.`,
        { fix: "double the quotes inside fields, and close every quote." },
      ));
    }
    if (fields.count) {
      errors.push(new PageError(
        `${countedThings(fields.count, "line")} ${fields.count === 1 ? "does" : "do"} not hold as many ` +
          `fields as the header${fields.words()}.`,
        { fix: "put quotes around fields that hold the delimiter, and give every column a name." },
      ));
    }
    return [...errors, ...this.numberErrors()];
  }

  numberErrors() {
    let fix = "check the name of the column, and repair those fields.";
    if (this.commaDecimals) fix = "choose the decimal mark comma under “How the text is written”.";
    if (this.marks.size) {
      const marks = [...this.marks].sort(byCodePoints).join(" ");
      fix = `write ${marks} among the texts that mean a missing value, under “How the text is written”.`;
    }
    return [...this.numbers].map(([name, found]) => new PageError(
      `column ${quoted(shortened(name))} must hold numbers, but ${withCommas(found.count)} of its fields ` +
        `${found.count === 1 ? "is" : "are"} something else${found.words()}.`,
      { fix },
    ));
  }

  scoreErrors(score, missing, [low, high]) {
    const errors = [];
    const name = quoted(shortened(score));
    if (this.missing.count && missing === "refuse") {
      errors.push(new PageError(
        `column ${name} lacks a score in ${countedThings(this.missing.count, "row")}${this.missing.words()}.`,
        { fix: "choose in step 3 to leave out rows without a score; the message says how many." },
      ));
    }
    if (this.infinite.count) {
      errors.push(new PageError(
        `column ${name} holds ${countedThings(this.infinite.count, "infinite score")}${this.infinite.words()}.`,
        { fix: "repair those records, or leave them out of the file." },
      ));
    }
    if (this.outside.count) {
      const count = `${withCommas(this.outside.count)} ${this.outside.count === 1 ? "does" : "do"}`;
      errors.push(new PageError(
        `scores must lie between ${sixDigits(low)} and ${sixDigits(high)}, but ${count} not${this.outside.words()}.`,
        { fix: "check the scale of the score, or agree on a plan with a wider score_range." },
      ));
    }
    return errors;
  }

  labelErrors(groups, listing) {
    const errors = [];
    if (this.unlabeled.count) {
      errors.push(new PageError(
        `${countedThings(this.unlabeled.count, "record")} ${this.unlabeled.count === 1 ? "has" : "have"} no ` +
          `label in ${listedLabels(groups)}${this.unlabeled.words()}.`,
        { fix: "show the labels in step 3 and say what the missing one counts as, or agree on a plan with the group 'unknown'." },
      ));
    }
    if (listing.unlisted.size) errors.push(unlistedError(groups, listing, this.unlisted.words()));
    return errors;
  }
}

function unlistedError(groups, listing, where) {
  const counts = listing.unlisted;
  const frequent = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || byCodePoints(a, b));
  const printable = frequent
    .filter((text) => counts.get(text) >= FEWEST_RECORDS_SHOWN || lookAlike(text, listing) !== undefined)
    .slice(0, MOST_LABELS_SHOWN);
  const words = printable.map((text) => `${quoted(shortened(text))} (${withCommas(counts.get(text))})`).join(", ");
  const more = frequent.length - printable.length;
  const rest = more ? countedThings(more, words ? "more label" : "label") : "";
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return new PageError(
    `${listedLabels(groups)} contains labels that are not groups of the plan: ${words}` +
      `${words && rest ? " and " : ""}${rest}, in ${countedThings(total, "record")} in all${where}.`,
    { fix: mappingFix(frequent, listing) },
  );
}

/** The text of a group that differs from a label only by case or spaces. */
function lookAlike(text, listing) {
  const texts = listing.parts.flatMap((part) => [...part.texts]);
  return texts.find((known) => foldedLabel(known) === foldedLabel(text));
}

/** Which label to map to which group: one that differs only by case or spaces, if there is one. */
function mappingFix(frequent, listing) {
  for (const text of frequent) {
    const group = lookAlike(text, listing);
    if (group !== undefined) return `if they mean the same, show the labels in step 3 and let ${quoted(text)} count as ${quoted(group)}.`;
  }
  return "show the labels in step 3, and say what they count as.";
}
