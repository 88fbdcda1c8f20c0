// What each cell of a silo may send, from its number of records alone: Python's privacy/disclosure.py.

const TAIL_RECORDS = 5;
const EXTRA_REASON = "withheld as well: the public total would give away a smaller cell";

/** The number of records from which a cell is sent. */
function smallestCell(rules, kind) {
  if (kind === "counts" || !rules.records_per_level) return rules.minimum_cell;
  return Math.max(rules.minimum_cell, kind === "quantile" ? 2 * TAIL_RECORDS - 1 : TAIL_RECORDS);
}

/** The k of a cell of so many records, or 0 if the cell is withheld. */
function allowedLevels(records, levels, rules, kind) {
  if (records < smallestCell(rules, kind)) return 0;
  if (kind === "counts" || !rules.records_per_level) return records ? levels : 0;
  const most = Math.min(wholeDivision(records, rules.records_per_level), tailLevels(records, kind));
  return Math.min(levels, Math.max(most, 1));
}

function tailLevels(records, kind) {
  if (kind === "quantile") return wholeDivision(records - 1, 2 * (TAIL_RECORDS - 1));
  return wholeDivision(records, TAIL_RECORDS);
}

function wholeDivision(first, second) {
  return (first - (((first % second) + second) % second)) / second;
}

/** Places of the cells to withhold besides those of fewer than `minimum` records. */
function complementaryCells(counts, minimum) {
  const places = [...counts.keys()];
  const small = places.filter((place) => counts[place] < minimum);
  if (minimum === 1 || !small.length) return new Set();
  const rest = places.filter((place) => counts[place] >= minimum);
  rest.sort((a, b) => counts[a] - counts[b]); // a stable sort, as Python's
  let hidden = small.reduce((sum, place) => sum + counts[place], 0);
  for (const [added, place] of rest.entries()) {
    const least = Math.max(minimum, (added + 1) * minimum - 1);
    const most = added * counts[place] + (small.length - 1) * (minimum - 1);
    if (least <= hidden && hidden <= most) return new Set(rest.slice(0, added));
    hidden += counts[place];
  }
  return new Set(rest);
}

/**
 * What each cell may send: `{ levels, withheld, reasons }`, in the order of the counts.
 *
 * `publicTotal` says whether the silo's number of records is public.
 */
export function decideCells(counts, { levels, rules, kind, publicTotal }) {
  const minimum = smallestCell(rules, kind);
  const extra = publicTotal ? complementaryCells(counts, minimum) : new Set();
  const noneSent = counts.every((number, place) => number < minimum || extra.has(place));
  const nameless = extra.size > 0 || (publicTotal && noneSent);
  return counts.map((number, place) => {
    if (number < minimum && minimum > 1) {
      const reason = tooFewWords(number, minimum, rules);
      return { levels: 0, withheld: nameless ? "complementary" : "small", reasons: [reason] };
    }
    if (extra.has(place)) return { levels: 0, withheld: "complementary", reasons: [EXTRA_REASON] };
    return sentDecision(number, levels, rules, kind);
  });
}

function tooFewWords(number, minimum, rules) {
  if (number < rules.minimum_cell) return `fewer than ${rules.minimum_cell} records`;
  return `fewer than ${minimum} records: no value leaves ${TAIL_RECORDS} in each tail`;
}

function sentDecision(number, levels, rules, kind) {
  const allowed = allowedLevels(number, levels, rules, kind);
  if (!number || allowed === levels) return { levels: allowed, withheld: null, reasons: [] };
  const byLevel = allowed === Math.max(wholeDivision(number, rules.records_per_level), 1);
  const rule = byLevel
    ? `one per ${rules.records_per_level} records`
    : `${TAIL_RECORDS} records beyond each end`;
  return {
    levels: allowed,
    withheld: null,
    reasons: [`${allowed} value${allowed === 1 ? "" : "s"} instead of ${levels} (${rule})`],
  };
}
