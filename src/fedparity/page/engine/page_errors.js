// Errors of the page, and the words in which Python says the same: quoted names, counts, lists.

const LONGEST_SHOWN = 60;
const HIDDEN_CHARACTER = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
// As Python's documents/fields.py; joiners, which some scripts need and Python then allows, are always refused here.
const HIDDEN_IN_NAME = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{NChar}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\u2065\u2800\ufe00-\ufe0f\ufff0-\ufff8\u{13430}-\u{1345f}\u{e0000}-\u{e0fff}]/u;
const LONGEST_NAME = 200;

export const BAD_DATA = 3;
export const REFUSED_BY_RULE = 4;

/** One clear sentence, and what to do about it in `fix`; never a record's value. */
export class PageError extends Error {
  constructor(message, { fix, code = BAD_DATA }) {
    super(printableText(message));
    this.name = "PageError";
    this.fix = printableText(fix);
    this.code = code;
  }
}

/** Whether a value may be the name of a silo, a person or a data set: a text of characters that can be seen. */
export function isName(value) {
  if (typeof value !== "string") return false;
  const { length } = [...value];
  return length >= 1 && length <= LONGEST_NAME && !HIDDEN_IN_NAME.test(value);
}

/** Escape what cannot be seen, as Python's `printable` does; line ends stay. */
function printableText(text) {
  return [...String(text)]
    .map((c) => (HIDDEN_CHARACTER.test(c) && !"\n\u3000\xa0".includes(c) ? escapedCharacter(c) : c))
    .join("");
}

function escapedCharacter(character) {
  const short = { "\t": "\\t", "\n": "\\n", "\r": "\\r" }[character];
  if (short) return short;
  const code = character.codePointAt(0);
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}

/** A text between quotes, as Python's `repr` writes it. */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = [...text].map((c) => {
    if (c === "\\" || c === mark) return `\\${c}`;
    return HIDDEN_CHARACTER.test(c) ? escapedCharacter(c) : c;
  });
  return mark + inner.join("") + mark;
}

/** A label of a plan as Python's `repr` writes it: a text, a number, a boolean or a tuple of them. */
export function shownLabel(label) {
  if (Array.isArray(label)) return `(${label.map(shownLabel).join(", ")})`;
  if (typeof label === "boolean") return label ? "True" : "False";
  return typeof label === "string" ? quoted(label) : String(label);
}

/** A whole number with commas between thousands. */
export function withCommas(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count with its noun: "1 row", "2,500 rows". */
export function countedThings(count, thing) {
  return `${withCommas(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** A text, cut if it is too long for a message. */
export function shortened(text) {
  const characters = [...text];
  if (characters.length <= LONGEST_SHOWN) return text;
  return `${characters.slice(0, LONGEST_SHOWN - 1).join("")}…`;
}

/** Labels between quotes, separated by commas, cut after `most`. */
export function listedLabels(labels, most = 5) {
  const names = labels.map(shownLabel);
  const shown = names.slice(0, most).join(", ");
  return names.length <= most ? shown : `${shown} and ${names.length - most} more`;
}

/** Compare two texts by their code points, as Python sorts them. */
export function byCodePoints(first, second) {
  const a = [...first];
  const b = [...second];
  for (let i = 0; i < a.length && i < b.length; i += 1) {
    if (a[i] !== b[i]) return a[i].codePointAt(0) - b[i].codePointAt(0);
  }
  return a.length - b.length;
}

/** A number of a plan as Python's format `g` writes it: six digits, no zeros at the end. */
export function sixDigits(number) {
  if (number === 0) return Object.is(number, -0) ? "-0" : "0";
  const tie = /^(-?\d\.\d{4}[02468])50*(e.*)$/.exec(number.toExponential(100)); // Python keeps the even digit
  const rounded = tie ? tie[1] + tie[2] : number.toExponential(5);
  const [mantissa, power] = rounded.split("e");
  const exponent = Number(power);
  const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent >= -4 && exponent < 6) return bare(Number(rounded).toFixed(5 - exponent));
  return `${bare(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** One error of all; itself if it is the only one. */
export function combinedErrors(errors) {
  if (errors.length === 1) return errors[0];
  const messages = errors.map((error, place) => `\n  ${place + 1}. ${error.message}`).join("");
  const fixes = errors.map((error, place) => `${place + 1}. ${error.fix}`).join("\n     ");
  return new PageError(`the table has ${errors.length} kinds of faults:${messages}`, { fix: fixes });
}
