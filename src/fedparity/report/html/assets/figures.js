// Values in figures: under the pointer, or one after the other by the arrow keys.
const REACH = 14; // pixels from a mark that still count as on it

const marksOf = (plot) => [...plot.querySelectorAll("svg [data-path]")];

const away = (mark, x, y) => {
  const box = mark.getBoundingClientRect();
  const across = Math.max(box.left - x, 0, x - box.right);
  return Math.hypot(across, Math.max(box.top - y, 0, y - box.bottom));
};

const nearest = (plot, x, y) => {
  let found = null;
  let least = REACH;
  for (const mark of marksOf(plot)) {
    const distance = away(mark, x, y);
    if (distance < least) [found, least] = [mark, distance];
  }
  return found;
};

const light = (plot, mark) => {
  for (const lit of plot.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (mark) mark.classList.add("lit");
};

const showMark = (plot, mark, x, y) => {
  light(plot, mark);
  if (!mark) return hideTip();
  const box = mark.getBoundingClientRect();
  showTip(describe(mark.dataset.path), x ?? (box.left + box.right) / 2, y ?? box.top);
};

const readMarks = (plot) => {
  let index = -1;
  plot.addEventListener("pointermove", ({ target, clientX, clientY }) => {
    const mark = target.closest("[data-path]") || nearest(plot, clientX, clientY);
    showMark(plot, mark, clientX, clientY);
  });
  return (step) => {
    const marks = marksOf(plot);
    if (!marks.length) return;
    index = Math.min(Math.max(index + step, 0), marks.length - 1);
    marks[index].scrollIntoView({ block: "nearest", inline: "nearest" });
    showMark(plot, marks[index]);
  };
};

// The share of a law at or below a score: the highest level whose quantile is not above it.
const shareBelow = (quantiles, score) => {
  let low = 0;
  let high = quantiles.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (quantiles[middle] <= score) low = middle + 1;
    else high = middle;
  }
  return low ? result.curves.levels[low - 1] : 0;
};

const laws = () => {
  const center = result.plan.order === 2 ? "barycenter" : "median center";
  const named = result.curves.groups.map(({ group, quantiles }) => [[group].flat().join(" & "), quantiles]);
  return [...named, [center, result.curves.center]];
};

const READINGS = {
  cdf: (score) =>
    [`at or below ${digits(Number(score.toPrecision(4)))}`, ...laws().map(([name, law]) => `${name}: ${percents(shareBelow(law, score))}`)].join("\n"),
  quantiles: (rank) => {
    const { levels } = result.curves;
    const place = levels.findIndex((level) => level >= rank);
    const at = place < 0 ? levels.length - 1 : place;
    return [`rank ${percents(levels[at])}`, ...laws().map(([name, law]) => `${name}: ${digits(law[at])}`)].join("\n");
  },
};

const readCurves = (plot, axis, reading) => {
  const svg = plot.querySelector("svg");
  const hair = document.createElementNS("http://www.w3.org/2000/svg", "line");
  hair.setAttribute("class", "hair");
  let x = axis.x0;
  const show = (place) => {
    x = Math.min(Math.max(place, axis.x0), axis.x1);
    const share = (x - axis.x0) / (axis.x1 - axis.x0);
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", axis.y0], ["y2", axis.y1]]) {
      hair.setAttribute(name, value);
    }
    svg.append(hair);
    const seen = new DOMPoint(x, Math.min(axis.y0, axis.y1)).matrixTransform(svg.getScreenCTM());
    showTip(reading(axis.v0 + share * (axis.v1 - axis.v0)), seen.x, seen.y + 60);
  };
  plot.addEventListener("pointermove", ({ clientX, clientY }) => {
    const at = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    if (at.x >= axis.x0 && at.x <= axis.x1) show(at.x);
    else {
      hair.remove();
      hideTip();
    }
  });
  plot.addEventListener("pointerleave", () => hair.remove());
  plot.addEventListener("blur", () => hair.remove());
  return (step) => show(x + (step * (axis.x1 - axis.x0)) / 50);
};

for (const plot of document.querySelectorAll(".plot")) {
  const [axis] = JSON.parse(plot.dataset.axes);
  const reading = READINGS[plot.dataset.reads];
  const move = reading && axis ? readCurves(plot, axis, reading) : readMarks(plot);
  const leave = () => {
    light(plot, null);
    hideTip();
  };
  plot.addEventListener("pointerleave", leave);
  plot.addEventListener("blur", leave);
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    move(step);
  });
}
