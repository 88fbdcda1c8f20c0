// The numbers of a sketch from the sorted scores of a group: quantiles, bin means, counts at points.

import { ExactSum, LOWEST_EXPONENT, exactInteger, roundedQuotient } from "./exact_numbers.js";
import { entriesBelow } from "./grids.js";

/** The quantiles at the midpoints of k levels: ranks ⌈n(2l - 1)/(2k)⌉ in whole numbers. */
export function quantilesOf(scores, levels) {
  const count = BigInt(scores.length);
  const twice = 2n * BigInt(levels);
  return Float64Array.from({ length: levels }, (_, level) => {
    const rank = (count * (2n * BigInt(level) + 1n) + twice - 1n) / twice;
    return scores[Number(rank) - 1] + 0;
  });
}

/**
 * The means of k bins of equal mass, and the variance inside the bins, each rounded once.
 *
 * The record of rank ⌊nl/k⌋ + 1 is cut by edge l: in units of 1/k it covers [kb, kb + k], where b
 * records come before it, and bin l covers [n(l - 1), nl].
 */
export function binMeansOf(scores, levels) {
  const halves = new Uint32Array(scores.buffer, scores.byteOffset, 2 * scores.length);
  const moments = binMoments(scores, halves, levels);
  const whole = new ExactSum({ squares: true });
  whole.add(halves, 0, scores.length);
  const count = BigInt(scores.length);
  const unit = count << LOWEST_EXPONENT;
  const bins = BigInt(levels);
  const between = moments.reduce((sum, moment) => sum + moment * moment, 0n);
  const inside = bins * count * whole.takeSquares() - between;
  return {
    values: Float64Array.from(moments, (moment) => roundedQuotient(moment, unit) + 0),
    inside: roundedQuotient(inside, (bins * count * count) << (2n * LOWEST_EXPONENT)),
  };
}

/** k times the sum of the scores of each bin, in 2^-1074. */
function binMoments(scores, halves, levels) {
  const count = scores.length;
  const sum = new ExactSum();
  const moments = [];
  let first = 0; // the first record that lies in the bin whole
  let shared = 0n; // what the bin has of the record before it, times k
  let score = 0n;
  for (let bin = 1; bin <= levels; bin += 1) {
    const edge = BigInt(count) * BigInt(bin);
    const cut = Number(edge / BigInt(levels)); // records that end at the edge or before
    if (cut < first) { // the bin lies inside one record
      moments.push(BigInt(count) * score);
      shared -= BigInt(count);
      continue;
    }
    sum.add(halves, first, cut);
    let moment = BigInt(levels) * sum.take() + shared * score;
    const part = edge % BigInt(levels);
    if (part) {
      score = exactInteger(scores[cut]);
      moment += part * score;
    }
    shared = part ? BigInt(levels) - part : 0n;
    first = part ? cut + 1 : cut;
    moments.push(moment);
  }
  return moments;
}

/** How many scores lie from each bound up to the next; one entry more than there are bounds. */
export function countsBetween(scores, bounds) {
  const places = Array.from(bounds, (bound) => entriesBelow(scores, bound));
  return [...places, scores.length].map((place, i) => place - (i ? places[i - 1] : 0));
}
