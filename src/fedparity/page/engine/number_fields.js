// Numbers as fields of a text write them: one grammar for Python and the page.
//
// After the spaces and tabs around it, a number is an optional sign and digits with at most one point, at
// least one digit, and an optional exponent; or inf, infinity or nan in any case. 1_000, 0x10 and 1e are not
// numbers. tests/contracts/number_cases.json holds the cases that both are tested with.

const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
const LARGEST_EXACT = 2 ** 53;
const [PLUS, MINUS, POINT, COMMA, ZERO, NINE, SMALL_E, SPACE, TAB] = [43, 45, 46, 44, 48, 57, 101, 32, 9];
const WORDS = { inf: Infinity, infinity: Infinity, nan: NaN };

/** What the last field was, beside its number. */
export const NUMBER = 0;
export const NO_NUMBER = 1;
export const EMPTY_NUMBER = 2;

/** Reads the fields of one file; `kind` says of the last one whether it was a number. */
export class NumberReader {
  constructor({ decimal = ".", na = [] } = {}) {
    this.mark = decimal === "," ? COMMA : POINT;
    this.na = new Set(na);
    this.kind = NUMBER;
  }

  /** The number in `bytes[start..end]`; NaN where it is missing or not a number, see `kind`. */
  read(bytes, start, end) {
    let from = start;
    let to = end;
    while (from < to && (bytes[from] === SPACE || bytes[from] === TAB)) from += 1;
    while (to > from && (bytes[to - 1] === SPACE || bytes[to - 1] === TAB)) to -= 1;
    this.kind = NUMBER;
    if (from === to) return this.without(EMPTY_NUMBER);
    if (this.na.size && this.na.has(latinText(bytes, from, to))) return this.without(EMPTY_NUMBER);
    return this.digits(bytes, from, to);
  }

  without(kind) {
    this.kind = kind;
    return NaN;
  }

  digits(bytes, from, to) {
    let at = from;
    const negative = bytes[at] === MINUS;
    if (negative || bytes[at] === PLUS) at += 1;
    const first = at;
    let value = 0;
    let point = -1;
    let digits = 0;
    for (; at < to; at += 1) {
      const byte = bytes[at];
      if (byte >= ZERO && byte <= NINE) {
        value = value * 10 + (byte - ZERO);
        digits += 1;
      } else if (byte === this.mark && point < 0) point = digits;
      else break;
    }
    if (!digits) return this.word(bytes, first, to, negative);
    let power = point < 0 ? 0 : point - digits;
    if (at < to) {
      const exponent = this.exponent(bytes, at, to);
      if (this.kind === NO_NUMBER) return NaN;
      power += exponent;
    }
    if (value < LARGEST_EXACT && power >= -22 && power <= 22) { // one operation on exact floats
      const size = power < 0 ? value / POWERS_OF_TEN[-power] : value * POWERS_OF_TEN[power];
      return negative ? -size : size;
    }
    const text = latinText(bytes, from, to);
    return Number(this.mark === COMMA ? text.replace(",", ".") : text);
  }

  /** The exponent from its e on. */
  exponent(bytes, start, to) {
    let at = start;
    if ((bytes[at] | 32) !== SMALL_E) return this.without(NO_NUMBER);
    at += 1;
    const negative = bytes[at] === MINUS;
    if (at < to && (negative || bytes[at] === PLUS)) at += 1;
    if (at === to) return this.without(NO_NUMBER);
    let power = 0;
    for (; at < to; at += 1) {
      const byte = bytes[at];
      if (byte < ZERO || byte > NINE) return this.without(NO_NUMBER);
      power = Math.min(power * 10 + (byte - ZERO), 1e6);
    }
    return negative ? -power : power;
  }

  word(bytes, from, to, negative) {
    const found = to - from <= 8 ? WORDS[latinText(bytes, from, to).toLowerCase()] : undefined;
    if (found === undefined) return this.without(NO_NUMBER);
    return negative ? -found : found;
  }
}

/** Bytes as characters of the same codes; where all are ASCII, their text. */
export function latinText(bytes, start, end) {
  let text = "";
  for (let at = start; at < end; at += 1) text += String.fromCharCode(bytes[at]);
  return text;
}
