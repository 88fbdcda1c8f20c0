// Words for a number that a pointer or a key has found: more digits than the page shows.
const TITLES = {
  "/magnitudes/worst_pair/corrected": "all together: points between the groups furthest apart",
  "/magnitudes/worst_pair/value": "with what noise adds on average",
  "/magnitudes/worst_pair/interval": "interval",
  "/magnitudes/worst_pair/combined": "with the guaranteed error of the sketches",
  "/magnitudes/worst_pair/outer": "outer bounds of the raw data",
  "/disparity/value": "all together: disparity",
  "/disparity/corrected": "disparity without what noise adds on average",
  "/disparity/interval": "interval",
  "/disparity/certificate": "certificate",
  "/disparity/outer": "outer bounds",
  "/disparity/combined": "with the guaranteed error of the sketches",
  "/disparity/review_level": "review level",
  "/attribution/selection": "selection",
  "/attribution/within": "within silos",
  "/decomposition/v_mix": "V_mix, mixture discrepancy",
  "/decomposition/v_bar": "V_bar, disparity of centers",
  "/decomposition/remainder": "R, interaction",
};
const FIELDS = { disparity: "disparity alone", wasserstein: "points alone", mean_gap: "mean gap", n: "records", quantiles: "scores" };

const digits = (value) => {
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  const plain = size === 0 || (size >= 1e-6 && size < 1e15);
  const text = plain
    ? size.toLocaleString("en-US", { maximumSignificantDigits: Math.max(6, Math.floor(size).toString().length) })
    : String(Number(size.toPrecision(6)));
  return value < 0 ? `−${text}` : text;
};
const percents = (share) => `${digits(Number((100 * share).toPrecision(4)))} %`;
const RANKS = ["5 %", "25 %", "50 %", "75 %", "95 %"];
const spoken = (value) => {
  if (value === null) return "none";
  if (!Array.isArray(value)) return digits(value);
  if (value.length === RANKS.length) return value.map((score, i) => `\nrank ${RANKS[i]}: ${digits(score)}`).join("");
  return value.map(digits).join(" to ");
};

// The interval that belongs to a number, if there is one.
const intervalOf = (path) => {
  const [, base, name] = path.match(/^(.*)\/([^/]*)$/);
  if (["disparity", "value", "corrected"].includes(name)) return valueAt(`${base}/interval`);
  return valueAt(`${base}/intervals/${name}`);
};

const describe = (path) => {
  const value = valueAt(path);
  if (value === undefined) return "";
  const steps = stepsOf(path);
  const place = steps.indexOf("silos");
  const silo = place < 0 ? "" : `${valueAt(`/${steps.slice(0, place + 2).join("/")}/silo`)}\n`;
  const rest = place < 0 ? steps : steps.slice(place + 2);
  const named = TITLES[path] || rest.map((step) => FIELDS[step] || step.replaceAll("_", " ")).join(", ");
  const ends = intervalOf(path);
  const interval = Array.isArray(ends) ? `\n${percents(result.confidence)} interval ${spoken(ends)}` : "";
  return `${silo}${named}: ${spoken(value)}${interval}`;
};
