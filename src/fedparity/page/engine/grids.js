// Public grids of scores: their points, and released numbers that are moved to them.

import { decimalFraction, nearestWhole, nextUp, roundedQuotient, roundedToEven } from "./exact_numbers.js";

const NEAR_TIE = 1e-4;
const NEAR_POINT = 1e-9;

/**
 * The points low + i·step, as whole numbers over a common denominator.
 *
 * Built of what `page_plan` writes: texts of whole numbers, and whether floats hold them.
 */
export class PointGrid {
  constructor({ low, high, step, denominator, fits }) {
    this.low = BigInt(low);
    this.high = BigInt(high);
    this.step = BigInt(step);
    this.denominator = BigInt(denominator);
    this.fits = fits;
  }

  /** All points from the lowest up to the highest. */
  points() {
    const size = Number((this.high - this.low) / this.step) + 1;
    return Float64Array.from({ length: size }, (_, place) => this.point(BigInt(place)));
  }

  point(steps) {
    return roundedQuotient(this.low + steps * this.step, this.denominator);
  }

  /** Values moved to the nearest point, ties to the even one; to an end of the range what would lie beyond. */
  nearest(values, [lowest, highest]) {
    const moved = this.fits ? (value) => this.fast(value) : (value) => this.exact(value);
    return values.map((value) => Math.min(Math.max(moved(value), lowest), highest) + 0);
  }

  fast(value) {
    const [low, step, denominator] = [this.low, this.step, this.denominator].map(Number);
    const position = (value - low / denominator) / (step / denominator);
    if (Math.abs(position - Math.floor(position) - 0.5) < NEAR_TIE) return this.exact(value);
    return (low + roundedToEven(position) * step) / denominator;
  }

  exact(value) {
    const [numerator, denominator] = decimalFraction(value);
    const steps = numerator * this.denominator - this.low * denominator;
    return this.point(nearestWhole(steps, this.step * denominator));
  }
}

/** For each point the lowest score that counts as it, and the first one above: at 2i and 2i + 1. */
export function pointBounds(points) {
  let step = points.length > 1 ? Infinity : 0;
  for (let i = 1; i < points.length; i += 1) step = Math.min(step, points[i] - points[i - 1]);
  const bounds = new Float64Array(2 * points.length);
  points.forEach((point, i) => {
    bounds[2 * i] = point - NEAR_POINT * step;
    bounds[2 * i + 1] = nextUp(point + NEAR_POINT * step);
  });
  return bounds;
}

/** How many entries of an increasing array are at most the value. */
export function entriesUpTo(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many entries of an increasing array are below the value. */
export function entriesBelow(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
