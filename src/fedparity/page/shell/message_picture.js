// A picture of a message: one row for each group, one mark for each number that would leave.

import { withCommas } from "../engine/page_errors.js";
import { drawn, groupWords } from "./page_parts.js";

const WIDTH = 720;
const LEFT = 150;
const RIGHT = 16;
const ROW = 44;

/** The drawing, as an `svg` element. */
export function messagePicture(cells, [low, high]) {
  const height = ROW * cells.length + 34;
  const at = (score) => LEFT + ((score - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
  const label = `The numbers of ${cells.length} groups on the scale from ${low} to ${high}; the table above has the same.`;
  const rows = cells.map((cell, place) => cellRow(cell, at, ROW * place + 4));
  const axis = drawn("g", { class: "axis" },
    drawn("line", { x1: at(low), x2: at(high), y1: height - 26, y2: height - 26 }),
    ...ticks(low, high).map((score) => drawn("text", { x: at(score), y: height - 8, "text-anchor": "middle" }, shortNumber(score))));
  return drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...rows, axis);
}

function cellRow(cell, at, top) {
  const name = groupWords(cell.group);
  const words = drawn("text", { x: 0, y: top + 20, class: "name" }, name.length > 20 ? `${name.slice(0, 19)}…` : name);
  const base = drawn("line", { class: "base", x1: LEFT, x2: WIDTH - RIGHT, y1: top + 32, y2: top + 32 });
  const count = drawn("text", { x: 0, y: top + 36, class: "count" }, cell.withheld ? "withheld" : `${withCommas(cell.count)} records`);
  return drawn("g", {}, words, count, base, ...(cell.values ? [marks(cell, at, top)] : []));
}

/** One mark for each value, as high as it has records where they are counted; all in one path. */
function marks(cell, at, top) {
  const most = cell.counts ? cell.counts.reduce((largest, count) => Math.max(largest, count), 0) : 1;
  const steps = Array.from(cell.values, (value, place) => {
    const share = cell.counts ? cell.counts[place] / most : 0.85;
    return `M${at(value).toFixed(2)} ${top + 32}v${-Math.max(1.5, 30 * share).toFixed(2)}`;
  });
  return drawn("path", { class: "mark", d: steps.join("") });
}

function ticks(low, high) {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low));
}

/** A number in a few digits. */
export function shortNumber(value) {
  return String(Number(value.toPrecision(6)));
}
