// What the ledger refuses for a release without noise, as Python's privacy/policy.py does.

import { listedLabels, quoted, shownLabel, sixDigits } from "../engine/page_errors.js";
import { refused } from "./policy_file.js";

/** Raise unless as many people have approved a plan as the policy asks for. */
export function checkApprovals(entries, plan, policy) {
  const found = new Set(
    entries.filter((each) => each.entry === "approval" && each.plan === plan && policy.people.includes(each.by)).map((each) => each.by),
  );
  if (found.size >= policy.needed) return;
  const missing = policy.people.filter((name) => !found.has(name));
  throw refused(
    `${policy.name} asks for the approval of ${policy.needed} of its people, and ${found.size} approved plan ${plan}.`,
    `let ${missing.join(" or ")} run fedparity approve PLAN --by NAME --because TEXT.`,
  );
}

/** Whether a release is new; false if the very same one is on record. Raise if it is refused. */
export function allowed(entries, fresh, policy, path) {
  if (isOnRecord(entries, fresh, path)) return false;
  const others = entries.filter((each) =>
    each.entry === "release" && isSameRecords(each, fresh) && doOverlap(each, fresh)
    && !(each.plan === fresh.plan && each.silo === fresh.silo));
  if (others.length) {
    checkGrid(others, fresh, policy);
    checkReason(others, fresh);
  }
  return true;
}

/** The message that a new one of the same plan and silo stands for, if it was voided. */
export function replacedMessage(entries, fresh) {
  const { made, standing } = underPlan(entries, fresh);
  return made.length && !standing.length ? made.at(-1).message : null;
}

function underPlan(entries, fresh) {
  const made = entries.filter((each) => each.entry === "release" && each.silo === fresh.silo && each.plan === fresh.plan);
  const voided = new Set(entries.filter((each) => each.entry === "void").map((each) => each.release));
  return { made, standing: made.filter((each) => !voided.has(each.release)) };
}

function isOnRecord(entries, fresh, path) {
  const { standing } = underPlan(entries, fresh);
  if (!standing.length) return false;
  const last = standing.at(-1);
  if (!fresh.release && last.epsilon === undefined) return true;
  if (last.release === fresh.release) return true;
  const where = last.file ? `it was written to ${last.file}` : "it is wherever it was saved then";
  throw refused(
    `silo ${quoted(fresh.silo)} already made another release under plan ${fresh.plan} on ${last.time}; `
      + "the difference of two releases can reveal a single record.",
    `send that message again; ${where}. If it is wrong, run fedparity ledger void ${last.message.slice(0, 19)} --because TEXT, `
      + `and make a new one: the auditor is told. The ledger is ${path}.`,
  );
}

function isSameRecords(each, fresh) {
  if (each.dataset === undefined || fresh.dataset === undefined) return each.silo === fresh.silo;
  return each.dataset === fresh.dataset;
}

function doOverlap(each, fresh) {
  const [old, now] = [each.view.period, fresh.view.value.period];
  if (!(each.in_period && fresh.in_period && old && now)) return true;
  return old[0] <= now[1] && now[0] <= old[1];
}

function checkGrid(others, fresh, policy) {
  if (policy.other_grids) return;
  const grid = JSON.stringify(fresh.view.value.grid);
  const found = others.find((each) => each.epsilon === undefined && JSON.stringify(each.view.grid) !== grid);
  if (!found) return;
  throw refused(
    `these records were released on ${found.time} on another grid of scores (range, step, rounding or bins); `
      + "two grids together undo the rounding of each.",
    `ask for a plan with the score_range, score_step, rounding and bins of “${found.view.title}”; only a policy with other_grids = true allows another one.`,
  );
}

function checkReason(others, fresh) {
  if (fresh.because) return;
  const clauses = new Set(others.flatMap((each) => revealedTogether(each.view, fresh.view.value)));
  const titles = listedLabels(others.map((each) => each.view.title), 3);
  const hint = fresh.view.value.period && !fresh.in_period
    ? " The plan's period counts only if you confirm that the rows are limited to it."
    : "";
  throw refused(
    `${others.length} release${others.length === 1 ? "" : "s"} of the same records left before, under ${titles}, `
      + `the last on ${others.at(-1).time}. Together with this one they tell: ${[...clauses].join("; ")}.`,
    `send nothing; or, if that is acceptable, say why in the field for a second release, which the ledger keeps.${hint}`,
  );
}

/** What two releases of the same records tell that neither tells alone. */
function revealedTogether(old, fresh) {
  const isOpen = (view) => ["none", "secure"].includes(view.mode);
  if (isOpen(old) !== isOpen(fresh)) return ["the release without noise tells exactly what the noise of the other hides"];
  const differs = (name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]);
  const found = [];
  const nested = nestedLabel(old.groups, fresh.groups);
  if (nested !== null) {
    const whole = shownLabel(nested);
    found.push(`the groups are nested: the count and the scores of one part of ${whole}, withheld or not, are those of ${whole} less the other parts`);
  } else if (differs("groups")) {
    found.push("groups that overlap give the counts of their differences by subtraction");
  }
  if (differs("axes")) found.push("tables by other axes of the same people give the counts of withheld intersections by subtraction");
  if (differs("outcome")) found.push("the outcomes of one release and the counts of the other, by subtraction");
  if (differs("thresholds")) {
    const between = [...new Set([...old.thresholds, ...fresh.thresholds])].sort((a, b) => a - b);
    found.push(`the thresholds ${between.map(sixDigits).join(", ")} together give the counts between them`);
  }
  if (differs("sketch") || differs("levels")) found.push("the scores at the ranks of both, and means of what lies between them");
  return [...found, "a record that was added or removed in between, by the difference of the two"];
}

function nestedLabel(old, fresh) {
  for (const [coarse, fine] of [[old, fresh], [fresh, old]]) {
    for (const label of coarse) {
      const parts = Array.isArray(label) ? label : [label];
      if (fine.some((other) => Array.isArray(other) && other.length > parts.length && parts.every((part) => other.includes(part)))) return label;
    }
  }
  return null;
}
