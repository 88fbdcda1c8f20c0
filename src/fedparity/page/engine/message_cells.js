// The cells of a message from the sorted scores of each group: what Python's modes/plain.py releases.

import { PageError, sixDigits, withCommas } from "./page_errors.js";
import { roundedSum, roundedToEven } from "./exact_numbers.js";
import { PointGrid, entriesUpTo, pointBounds } from "./grids.js";
import { decideCells } from "./disclosure_rules.js";
import { mergeCounts, runMinimum, statedThresholds } from "./count_merging.js";
import { binMeansOf, countsBetween, quantilesOf } from "./sketch_numbers.js";

/** The grids of a plan, made once. */
class PlanGrids {
  constructor(plan) {
    this.rounding = plan.roundingGrid && new PointGrid(plan.roundingGrid);
    this.steps = plan.pointGrid && new PointGrid(plan.pointGrid);
    this.points = this.steps && plan.kind !== "mean" ? this.steps.points() : null;
    this.bounds = this.points && pointBounds(this.points);
  }
}

/** The error of scores that are no points of the plan's grid. */
function offGrid(off, total) {
  return new PageError(`scores must be points of the plan's grid, but ${off} of ${total} are not.`, {
    fix: "round the scores to the plan's score_step as 64-bit floats, or agree on a plan with another score_step, or without one.",
  });
}

/**
 * The cells that a silo would send, and why: `{ cells, decisions, records }`.
 *
 * `lists` has the scores of each group as a `ScoreList`, all of which lie in the plan's range.
 */
export function releasedCells(plan, silo, lists) {
  const grids = new PlanGrids(plan);
  const records = lists.map((list) => list.length);
  const decisions = decideCells(records, {
    levels: plan.levels,
    rules: plan.disclosure,
    kind: plan.kind,
    publicTotal: plan.totals.includes(silo),
  });
  const sorted = lists.map((list) => list.sorted());
  if (plan.kind === "counts") refuseOffGrid(sorted, grids.bounds);
  const cells = plan.groups.map((group, place) => {
    const { withheld, levels } = decisions[place];
    if (withheld !== null) return cellOf(group, { withheld });
    if (!levels || !records[place]) return cellOf(group, { count: 0 });
    const scores = sorted[place];
    sorted[place] = null; // its memory may be used again
    const sent = plan.kind === "counts"
      ? countedCell(plan, grids, scores)
      : sketchedCell(plan, grids, scores, levels);
    return cellOf(group, { count: records[place], levels: sent.values.length, ...sent });
  });
  cells.forEach((cell, place) => decisions[place].reasons.push(...cellReasons(plan, grids, cell)));
  return { cells, decisions, records };
}

/** A cell as JSON holds it. */
function cellOf(group, stated) {
  return {
    group, count: null, effective: null, values: null, counts: null, mean_square: null,
    above: [], levels: 0, rank_error: 0, withheld: null, ...stated,
  };
}

function refuseOffGrid(sorted, bounds) {
  let off = 0;
  let total = 0;
  for (const scores of sorted) {
    total += scores.length;
    countsBetween(scores, bounds).forEach((count, place) => { off += place % 2 ? 0 : count; });
  }
  if (off) throw offGrid(off, total);
}

/** Counts at the points of the grid, small ones merged. */
function countedCell(plan, grids, scores) {
  const counts = countsBetween(scores, grids.bounds).filter((_, place) => place % 2);
  const { thresholds, disclosure } = plan;
  const merged = mergeCounts({ points: grids.points, sizes: counts, rules: disclosure, thresholds });
  const above = thresholds.map((threshold, i) => {
    if (!merged.stated[i]) return null;
    return counts.reduce((sum, count, place) => sum + (grids.points[place] >= threshold ? count : 0), 0);
  });
  return { values: merged.values, counts: merged.counts, above };
}

/** Quantiles or bin means, rounded, and the records at or above each threshold. */
function sketchedCell(plan, grids, scores, levels) {
  const means = plan.kind === "mean" ? binMeansOf(scores, levels) : null;
  const values = means ? means.values : quantilesOf(scores, levels);
  const rounded = roundedValues(plan, grids, values);
  const sent = { values: Array.from(rounded), above: countsAbove(plan, scores) };
  if (!means) return sent;
  const moved = roundedSum(values.map((value, i) => (value - rounded[i]) * (value - rounded[i])));
  const square = means.inside + moved / rounded.length;
  return { ...sent, mean_square: roundedMeanSquare(plan, square, rounded, scores.length) };
}

function roundedValues(plan, grids, values) {
  let moved = values;
  if (plan.kind === "quantile" && grids.steps) {
    const off = values.filter((value) => entriesUpTo(grids.bounds, value) % 2 === 0).length;
    if (off) throw offGrid(off, values.length);
    moved = grids.steps.nearest(moved, plan.scoreRange);
  }
  return grids.rounding ? grids.rounding.nearest(moved, plan.scoreRange) : moved;
}

function countsAbove(plan, scores) {
  if (!plan.thresholds.length) return [];
  const between = countsBetween(scores, plan.thresholds);
  const stated = statedThresholds(between, plan.disclosure);
  return stated.map((sent, i) => (sent ? between.slice(i + 1).reduce((sum, n) => sum + n, 0) : null));
}

/** The mean square moved to a multiple of its step, which depends on what the message says anyway. */
function roundedMeanSquare(plan, square, values, count) {
  const [low, high] = plan.scoreRange;
  let gap = Math.max(values[0] - low, high - values[values.length - 1]);
  for (let i = 1; i < values.length; i += 1) gap = Math.max(gap, values[i] - values[i - 1]);
  const farthest = Math.min(gap + plan.roundingError, high - low);
  const step = (plan.meanSquareFactor * farthest) / count;
  return step ? roundedToEven(square / step) * step + 0 : square;
}

function cellReasons(plan, grids, cell) {
  const reasons = [];
  const counts = (cell.counts ?? []).filter((count) => count !== null);
  if (counts.length && counts.length < grids.points.length) {
    reasons.push(
      `counts at ${withCommas(grids.points.length)} scores merged into ${withCommas(counts.length)}: ` +
        `${runMinimum(plan.disclosure)} records each`,
    );
  }
  const hidden = plan.thresholds.filter((_, i) => cell.above[i] === null).map(sixDigits);
  if (hidden.length) {
    const least = plan.disclosure.minimum_cell;
    reasons.push(`no count at ${hidden.join(", ")}: it would tell of fewer than ${least} records`);
  }
  return reasons;
}
