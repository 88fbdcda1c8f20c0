// Sums of floats without rounding, and quotients that are rounded once: whole numbers of 2^-1074.

export const LOWEST_EXPONENT = 1074n;

const EXPONENTS = 2047;
const MOST_TERMS = 1 << 15; // sums of products of 18 bits stay below 2^53
const PART = 18n;
const bits = new Float64Array(1);
const words = new Uint32Array(bits.buffer);

/** A finite float as a whole number of 2^-1074. */
export function exactInteger(value) {
  bits[0] = value;
  const power = (words[1] >>> 20) & 0x7ff;
  const high = (words[1] & 0xfffff) | (power ? 0x100000 : 0);
  const size = ((BigInt(high) << 32n) | BigInt(words[0])) << BigInt(Math.max(power, 1) - 1);
  return words[1] >>> 31 ? -size : size;
}

/**
 * A running sum of floats, and of their squares: by exponent, the mantissas in three parts of 18 bits.
 *
 * Parts, and products of two parts, are whole numbers that a float64 holds, and so is the sum of 2^15 of
 * them: nothing is rounded, whatever the order. What was added up moves to a BigInt then.
 */
export class ExactSum {
  constructor({ squares = false } = {}) {
    this.width = squares ? 8 : 3;
    this.parts = new Float64Array(EXPONENTS * this.width);
    this.restart();
    this.total = 0n;
    this.totalSquares = 0n;
  }

  restart() {
    this.lowest = EXPONENTS;
    this.highest = 0;
    this.terms = 0;
  }

  /** Add `values[start..end]`, a Float64Array with its own buffer of `halves` (its Uint32Array). */
  add(halves, start, end) {
    for (let from = start; from < end; ) {
      const to = Math.min(end, from + MOST_TERMS - this.terms);
      if (this.width === 3) this.addSums(halves, from, to);
      else this.addSquares(halves, from, to);
      this.terms += to - from;
      if (this.terms >= MOST_TERMS) this.settle();
      from = to;
    }
  }

  addSums(halves, start, end) {
    const { parts } = this;
    let { lowest, highest } = this;
    for (let i = start; i < end; i += 1) {
      const low = halves[2 * i];
      const high = halves[2 * i + 1];
      let power = (high >>> 20) & 0x7ff;
      const top = power ? (high & 0xfffff) | 0x100000 : high & 0xfffff;
      if (power === 0) power = 1;
      if (power < lowest) lowest = power;
      if (power > highest) highest = power;
      const sign = high >>> 31 ? -1 : 1;
      const at = power * 3;
      parts[at] += sign * (low & 0x3ffff);
      parts[at + 1] += sign * ((low >>> 18) | ((top & 0xf) << 14));
      parts[at + 2] += sign * (top >>> 4);
    }
    this.lowest = lowest;
    this.highest = highest;
  }

  addSquares(halves, start, end) {
    const { parts } = this;
    let { lowest, highest } = this;
    for (let i = start; i < end; i += 1) {
      const low = halves[2 * i];
      const high = halves[2 * i + 1];
      let power = (high >>> 20) & 0x7ff;
      const top = power ? (high & 0xfffff) | 0x100000 : high & 0xfffff;
      if (power === 0) power = 1;
      if (power < lowest) lowest = power;
      if (power > highest) highest = power;
      const a = low & 0x3ffff;
      const b = (low >>> 18) | ((top & 0xf) << 14);
      const c = top >>> 4;
      const sign = high >>> 31 ? -1 : 1;
      const at = power * 8;
      parts[at] += sign * a;
      parts[at + 1] += sign * b;
      parts[at + 2] += sign * c;
      parts[at + 3] += a * a;
      parts[at + 4] += 2 * a * b;
      parts[at + 5] += 2 * a * c + b * b;
      parts[at + 6] += 2 * b * c;
      parts[at + 7] += c * c;
    }
    this.lowest = lowest;
    this.highest = highest;
  }

  /** Move what was added up to the totals. */
  settle() {
    const { parts, width } = this;
    for (let power = this.lowest; power <= this.highest; power += 1) {
      const at = power * width;
      const shift = BigInt(power - 1);
      this.total += taken(parts, at, 3) << shift;
      if (width > 3) this.totalSquares += taken(parts, at + 3, 5) << (2n * shift);
    }
    this.restart();
  }

  /** The sum in 2^-1074; a new sum begins. */
  take() {
    this.settle();
    const { total } = this;
    this.total = 0n;
    return total;
  }

  /** The sum of squares in 2^-2148; a new sum begins. */
  takeSquares() {
    this.settle();
    const { totalSquares } = this;
    this.totalSquares = 0n;
    return totalSquares;
  }
}

/** The whole number of parts of 18 bits each; they become 0. */
function taken(parts, at, size) {
  let whole = 0n;
  for (let place = size - 1; place >= 0; place -= 1) {
    whole <<= PART;
    if (parts[at + place] !== 0) whole += BigInt(parts[at + place]);
    parts[at + place] = 0;
  }
  return whole;
}

/** The exact sum of a list of floats, rounded once. */
export function roundedSum(values) {
  const list = Float64Array.from(values);
  const sum = new ExactSum();
  sum.add(new Uint32Array(list.buffer), 0, list.length);
  return roundedQuotient(sum.take(), 1n << LOWEST_EXPONENT);
}

function bitLength(whole) {
  const text = (whole < 0n ? -whole : whole).toString(16);
  return text === "0" ? 0 : 4 * text.length - Math.clz32(parseInt(text[0], 16)) + 28;
}

/** The float nearest to numerator / denominator, ties to the even one; infinite if none is so large. */
export function roundedQuotient(numerator, denominator) {
  if (numerator === 0n) return 0;
  const size = numerator < 0n ? -numerator : numerator;
  let exponent = bitLength(size) - bitLength(denominator);
  if (scaledUp(size, -exponent) < scaledUp(denominator, exponent)) exponent -= 1;
  const lowest = Math.max(exponent - 52, -1074); // the power of the last bit that is kept
  const top = scaledUp(size, -lowest);
  const bottom = scaledUp(denominator, lowest);
  let whole = top / bottom;
  const twice = 2n * (top - whole * bottom);
  if (twice > bottom || (twice === bottom && whole & 1n)) whole += 1n;
  const found = timesPowerOfTwo(Number(whole), lowest);
  return numerator < 0n ? -found : found;
}

function scaledUp(whole, places) {
  return places > 0 ? whole << BigInt(places) : whole;
}

function timesPowerOfTwo(value, power) {
  if (power > 1000) return value * 2 ** 1000 * 2 ** (power - 1000);
  if (power < -1000) return value * 2 ** -1000 * 2 ** (power + 1000);
  return value * 2 ** power;
}

/** A decimal number that a float prints as: whole numbers [numerator, denominator]. */
export function decimalFraction(value) {
  const [mantissa, power = "0"] = String(value).split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  const exponent = Number(power) - fraction.length;
  const digits = BigInt(whole + fraction);
  return exponent >= 0 ? [digits * 10n ** BigInt(exponent), 1n] : [digits, 10n ** BigInt(-exponent)];
}

/** The whole number nearest to numerator / denominator (positive), ties to the even one. */
export function nearestWhole(numerator, denominator) {
  let whole = numerator / denominator;
  let rest = numerator - whole * denominator;
  if (rest < 0n) {
    whole -= 1n;
    rest += denominator;
  }
  if (2n * rest > denominator || (2n * rest === denominator && whole & 1n)) whole += 1n;
  return whole;
}

/** A float rounded to a whole one, ties to the even one. */
export function roundedToEven(value) {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest < 0.5) return below;
  if (rest > 0.5) return below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/** The next float above a finite one. */
export function nextUp(value) {
  if (value === 0) return Number.MIN_VALUE;
  bits[0] = value;
  const whole = (BigInt(words[1]) << 32n) | BigInt(words[0]);
  const next = value > 0 ? whole + 1n : whole - 1n;
  words[1] = Number(next >> 32n);
  words[0] = Number(next & 0xffffffffn);
  return bits[0];
}
