// Counts of neighbors merged until none is small: Python's privacy/count_merging.py.

import { entriesBelow } from "./grids.js";

/** How many records a count that is sent must hold. */
export function runMinimum(rules) {
  return Math.max(rules.minimum_cell, rules.records_per_level, 1);
}

/** The counts of a cell at the points of its score, `sizes`, small ones merged with their neighbors. */
export function mergeCounts({ points, sizes, rules, thresholds }) {
  const cuts = thresholds.map((threshold) => entriesBelow(points, threshold));
  const { ends, counted } = mergedRuns(sizes, runMinimum(rules), cuts);
  const starts = ends.map((_, run) => (run ? ends[run - 1] + 1 : 0));
  const kept = starts.filter((_, run) => counted[run]);
  const counts = kept.map((start, i) => recordsBetween(sizes, start, kept[i + 1]));
  const above = new Map();
  let sum = 0;
  for (let i = kept.length - 1; i >= 0; i -= 1) above.set(kept[i], (sum += counts[i]));
  let next = 0;
  return {
    values: ends.map((end) => points[end]),
    counts: counted.map((own) => (own ? counts[next++] : null)),
    stated: cuts.map((cut) => above.has(cut)),
  };
}

function recordsBetween(sizes, start, stop = sizes.length) {
  let sum = 0;
  for (let place = start; place < stop; place += 1) sum += sizes[place];
  return sum;
}

/** Runs of neighboring places whose counts may be sent: the last place of each, and whether it is counted. */
function mergedRuns(sizes, minimum, cuts) {
  if (minimum <= 1) {
    return { ends: Array.from(sizes, (_, place) => place), counted: Array.from(sizes, () => true) };
  }
  const inner = cuts.filter((cut) => cut > 0 && cut < sizes.length);
  const starts = [...new Set([0, ...inner])].sort((a, b) => a - b);
  const stops = [...starts.slice(1), sizes.length];
  const parts = starts.map((start, i) => recordsBetween(sizes, start, stops[i]));
  const kept = mergedEnds(parts, minimum).map((end) => stops[end]);
  const ends = [];
  const counted = [];
  kept.forEach((stop, i) => {
    const start = i ? kept[i - 1] : 0;
    const { own, apart } = runsOfPart(sizes, start, stop, minimum);
    own.forEach((end, place) => {
      ends.push(end);
      counted.push(place < own.length - 1 || !apart);
    });
  });
  return { ends, counted };
}

/** The ends of the runs between two cuts, and whether the last one has no count of its own. */
function runsOfPart(sizes, start, stop, minimum) {
  const closed = closedRuns(sizes, start, stop, minimum);
  const last = closed.length > 1 ? closed[closed.length - 2] + 1 : start;
  const enough = recordsBetween(sizes, last, stop) >= 2 * minimum - 1;
  const apart = closed.length > 0 && closed[closed.length - 1] < stop - 1 && enough;
  return { own: [...(apart ? closed : closed.slice(0, -1)), stop - 1], apart };
}

/** The last place of each run, where what is left over at the top joins the last run. */
function mergedEnds(sizes, minimum) {
  if (minimum <= 1) return Array.from(sizes, (_, place) => place);
  return [...closedRuns(sizes, 0, sizes.length, minimum).slice(0, -1), sizes.length - 1];
}

function closedRuns(sizes, start, stop, minimum) {
  const ends = [];
  let held = 0;
  for (let place = start; place < stop; place += 1) {
    held += sizes[place];
    if (held >= minimum) {
      ends.push(place);
      held = 0;
    }
  }
  return ends;
}

/** For each threshold whether its count may be sent; `sizes` has one entry more than there are thresholds. */
export function statedThresholds(sizes, rules) {
  const ends = new Set(mergedEnds(sizes, rules.minimum_cell));
  return Array.from({ length: sizes.length - 1 }, (_, place) => ends.has(place));
}
