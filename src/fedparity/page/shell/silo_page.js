// What people see: from the file to the message, step by step. The file itself is handed to the worker unread.

import { PageError, countedThings, withCommas } from "../engine/page_errors.js";
import { LedgerFile } from "./ledger_file.js";
import { messagePicture, shortNumber } from "./message_picture.js";
import { privateKey } from "./own_digests.js";
import { choices, groupWords, made, part, saveFile, tableOf } from "./page_parts.js";
import { defaultPolicy, policyOf } from "./policy_file.js";
import { ReleasePermit } from "./release_permit.js";
import { TableWorker } from "./table_worker.js";

// What the policy does not forbid and nothing here needs: packets, and voices that may be a service of the network.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "speechSynthesis", "webkitSpeechRecognition", "SpeechRecognition"]) delete self[name];

const told = JSON.parse(part("told").textContent);
const plan = told.engine;
const worker = new TableWorker(part("worker-text").textContent);
const WHY = { map: "your map", other: "the group for other labels", missing: "the plan's group for missing labels", spelling: "another spelling" };
const FIELD_OF_ENDING = { toml: "policy", jsonl: "ledger", key: "key", pem: "key" };
let columns = [];
let released = null;
let choicesMade = 0; // how often anything was chosen or written

const chosenFile = () => part("file").files[0] ?? null;
const siloName = () => part("silo").value.trim();

function show(id, isShown = true) {
  part(id).hidden = !isShown;
}

/** Run what a button asks for; an error is shown with its fix, and everything chosen stays. */
async function attempt(work) {
  part("problem").replaceChildren();
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PageError)) console.error(error);
    const known = error instanceof PageError
      ? error
      : { message: `the page broke off (${error.name}).`, fix: "use the command fedparity sketch, and tell the makers of the page." };
    const text = known.message.replace(/^\p{Ll}(?=[^\s.]*\s)/u, (letter) => letter.toUpperCase()); // no name of a file
    part("problem").append(made("div", { class: "problem" }, made("p", {}, text), made("p", { class: "fix" }, `What to do: ${known.fix}`)));
    part("problem").scrollIntoView({ block: "nearest" });
  }
}

/** What says how the table is read; what was not chosen is left out. */
function textOptions() {
  if (/\.(parquet|pq)$/i.test(chosenFile()?.name)) return {};
  const stated = {
    delimiter: part("delimiter").value,
    decimal: part("decimal").value,
    encoding: part("encoding").value,
    na: part("na").value.split(",").map((text) => text.trim()).filter(Boolean),
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value.length));
}

function tableOptions() {
  const map = [...document.querySelectorAll("select[data-label]")]
    .filter((select) => select.value)
    .map((select) => [select.dataset.label, select.value]);
  const stated = {
    silo: siloName(),
    score: part("score").value,
    group: columns.map((_, place) => part(`group-${place}`).value),
    map: Object.fromEntries(map),
    other: part("other")?.value,
    missing: part("missing").value,
    ...textOptions(),
  };
  if (!stated.silo) throw new PageError("your institution's name is missing.", { fix: "choose or write it in step 2." });
  if (!stated.score || stated.group.includes("")) {
    throw new PageError("the columns are not chosen yet.", { fix: "choose the column of the score, and each column of the group, in step 3." });
  }
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value));
}

function drawSilo() {
  const field = plan.silos
    ? choices("silo", [["", "choose"], ...plan.silos.map((name) => [name, name])], plan.silos.length === 1 ? plan.silos[0] : "")
    : made("input", { id: "silo", type: "text", autocomplete: "off" });
  part("silo-field").append(field);
}

/** Read the names of the columns, and offer them. */
async function readColumns() {
  const file = chosenFile();
  part("file-facts").textContent = "";
  show("columns", false);
  show("rules", false);
  if (!file) return;
  const found = await worker.ask("header", { file, options: textOptions() });
  part("file-facts").textContent = `${file.name}: ${found.format}, ${countedThings(found.columns.length, "column")}, ${withCommas(file.size)} bytes.`;
  drawColumns(found.columns);
  part("labels").replaceChildren();
  show("columns");
  show("rules");
}

/** Put files that were dropped anywhere on the page into their fields: policy, ledger, key, or the table. */
async function takeDropped(files) {
  const byField = new Map();
  for (const file of files) {
    const field = FIELD_OF_ENDING[file.name.split(".").at(-1).toLowerCase()] ?? "file";
    if (byField.has(field)) {
      throw new PageError(`${byField.get(field).name} and ${file.name} were dropped for the same field.`, { fix: "drop one table, which may have a policy, a ledger and a key beside it." });
    }
    byField.set(field, file);
  }
  for (const [field, file] of byField) {
    const list = new DataTransfer();
    list.items.add(file);
    part(field).files = list.files;
    part(field).dispatchEvent(new Event("change", { bubbles: true }));
    if (field !== "file") part("rule-files").open = true;
  }
}

function drawColumns(found) {
  const earlier = Object.fromEntries([...part("column-fields").querySelectorAll("select")].map((each) => [each.id, each.value]));
  const names = found.map((column) => column.name);
  const offered = [["", "choose"], ...found.map((column) => [column.name, columnWords(column)])];
  const kept = (id, role) => [earlier[id], role].find((name) => name && names.includes(name)) ?? "";
  const parts = Array.isArray(plan.groups[0]) ? plan.groups[0].map((_, place) => place) : [0];
  columns = parts;
  const fields = [made("label", { for: "score" }, "Score"), choices("score", offered, kept("score", "score"))];
  for (const place of parts) {
    const id = `group-${place}`;
    const labels = [...new Set(plan.groupKeys.map((key) => key[place]))];
    const words = `${parts.length > 1 ? `Group, part ${place + 1}` : "Group"} (${labels.slice(0, 6).join(", ")}${labels.length > 6 ? ", …" : ""})`;
    fields.push(made("label", { for: id }, words), choices(id, offered, kept(id, parts.length > 1 ? "" : "group")));
  }
  part("column-fields").replaceChildren(...fields);
}

function columnWords({ name, rows, numbers, empty }) {
  if (!rows) return name;
  if (numbers && numbers + empty === rows) return `${name} (numbers)`;
  return numbers ? `${name} (some numbers)` : `${name} (text)`;
}

/** Show every label of the group columns, and let those that are no group of the plan be mapped. */
async function readLabels() {
  const options = tableOptions();
  const { labels, more } = await reading(() => worker.ask("labels", { plan, file: chosenFile(), options }, showProgress));
  const isSingle = columns.length === 1;
  const rows = labels.map((each) => [each.label ?? "no label", withCommas(each.rows), labelField(each, isSingle)]);
  const table = tableOf("Labels of the group columns", ["Label in your table", "Rows", "Counts as"], rows);
  const shown = [made("div", { class: "scroll", role: "region", "aria-label": "Labels", tabindex: "0" }, table)];
  if (!isSingle) shown.push(partFields(labels));
  if (more) shown.push(made("p", { class: "small" }, `and ${countedThings(more, "label")} more, each with fewer rows`));
  if (isSingle) {
    const groups = plan.groupKeys.map(([text]) => [text, text]);
    const chosen = part("other")?.value ?? "";
    shown.push(made("div", { class: "fields" }, made("label", { for: "other" }, "Every label that the plan does not list"),
      choices("other", [["", "is a mistake: stop"], ...groups.map(([value, text]) => [value, `counts as ${text}`])], chosen)));
  }
  part("labels").replaceChildren(...shown);
}

function labelField({ label, key, group, reason }, isSingle) {
  if (group !== null && reason !== "map" && reason !== "other") {
    return reason ? `${groupWords(group)} (${WHY[reason]})` : groupWords(group);
  }
  if (!isSingle) return "no group yet: see below";
  return mapField(key[0] ?? "", `What ${label ?? "no label"} counts as`, plan.groupKeys.map(([text]) => text), reason === "map" ? plan.groupKeys[plan.groups.findIndex((each) => each === group)]?.[0] : "");
}

function mapField(label, words, texts, chosen = "") {
  const select = choices("", [["", "no group yet"], ...texts.map((text) => [text, text])], chosen);
  select.removeAttribute("id");
  select.dataset.label = label;
  select.setAttribute("aria-label", words);
  return select;
}

/** Of an intersection, the parts that no group has. */
function partFields(labels) {
  const rows = new Map();
  const chosen = Object.fromEntries([...document.querySelectorAll("select[data-label]")].map((each) => [each.dataset.label, each.value]));
  for (const { key, group, reason } of labels) {
    if (group !== null && reason !== "map") continue;
    key.forEach((label, place) => {
      const texts = [...new Set(plan.groupKeys.map((each) => each[place]))];
      if (!texts.includes(label)) rows.set(label ?? "", mapField(label ?? "", `What ${label ?? "no label"} counts as`, texts, chosen[label ?? ""] ?? ""));
    });
  }
  if (!rows.size) return "";
  return tableOf("Labels without a group", ["Label", "Counts as"], [...rows].map(([label, field]) => [label || "no label", field]));
}

function showProgress({ phase, bytes, totalBytes, rows }) {
  part("bar").value = totalBytes ? bytes / totalBytes : 0;
  const words = phase === "computing" ? "Computing" : `${Math.floor((100 * bytes) / (totalBytes || 1))} % of the file`;
  part("progress-words").textContent = `${words}, ${withCommas(rows)} rows`;
}

/** Show progress and the button that stops, while the worker reads. */
async function reading(work) {
  part("bar").value = 0;
  part("progress-words").textContent = "Reading";
  show("progress");
  show("cancel");
  const focused = document.activeElement;
  part("compute").disabled = part("read-labels").disabled = true;
  try {
    return await work();
  } finally {
    show("progress", false);
    show("cancel", false);
    part("compute").disabled = part("read-labels").disabled = false;
    if (document.activeElement === document.body) focused.focus(); // a button that is disabled loses it
  }
}

/** The bytes of a file of the institution's own, which may have been replaced since it was chosen. */
async function ownBytes(file) {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new PageError(`${file.name} was changed or moved since it was chosen.`, { fix: "choose it again, in step 4." });
  }
}

/** A file of the institution's own as text. */
async function ownText(file) {
  const bytes = await ownBytes(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new PageError(`${file.name} is not text in UTF-8.`, { fix: "choose the right file, or save it as UTF-8." });
  }
}

async function ownPolicy() {
  const file = part("policy").files[0];
  return file ? policyOf(await ownText(file), file.name, told.defaults) : defaultPolicy(told.defaults);
}

async function ownLedger(policy) {
  const file = part("ledger").files[0];
  if (file) return LedgerFile.read(file.name, await ownBytes(file));
  if (!part("begin-ledger").checked) return null;
  const name = policy.ledger?.split(/[\\/]/).at(-1) ?? "ledger.jsonl";
  const time = new Date().toISOString().replace(/\.\d+Z$/, "+00:00");
  return Object.assign(await new LedgerFile({ name }).with({ entry: "begin", time }), { isNew: true });
}

/** How the table is read, as the ledger keeps it. */
function readingEntry({ score, group, map, other, missing }) {
  const stated = { score, group, map, other, missing: missing === "drop" ? missing : undefined };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value && (typeof value !== "object" || Object.keys(value).length)));
}

/** Ask the rules, then read the rows, then show all that would leave. */
async function compute() {
  show("leaves", false);
  const choicesBefore = choicesMade;
  const options = tableOptions();
  const policy = await ownPolicy();
  const keyFile = part("key").files[0];
  const permit = new ReleasePermit({
    told,
    silo: options.silo,
    policy,
    ledger: await ownLedger(policy),
    key: keyFile ? await privateKey(await ownText(keyFile)) : null,
    dataset: part("dataset").value,
    because: part("because").value,
    inPeriod: part("in-period").checked,
    reading: readingEntry(options),
  });
  await permit.check();
  const { replaces } = permit;
  const given = { plan, file: chosenFile(), options: replaces ? { ...options, replaces } : options };
  const { document: unsigned, reasons, accounting } = await reading(() => worker.ask("sketch", given, showProgress));
  if (choicesMade !== choicesBefore) {
    throw new PageError("something was chosen anew while the table was read.", { fix: "press the button once more." });
  }
  released = { ...(await permit.release(unsigned, accounting)), silo: options.silo };
  showRelease(released, reasons, accounting);
}

function showRelease({ message, document: sent, digest, ledger }, reasons, accounting) {
  const signed = sent.signature ? "signed" : "not signed";
  part("summary").textContent = `${withCommas(message.length)} bytes, ${signed}. Digest ${digest}.`;
  part("cells").replaceChildren(tableOf("Cells of the message", ["Group", "Count", "Numbers", "Lowest", "Median", "Highest", "Status"], sent.cells.map(cellRow)));
  part("picture").replaceChildren(messagePicture(sent.cells, plan.scoreRange));
  part("caption").textContent = captionWords(sent.kind);
  const held = sent.cells.flatMap((cell, place) => reasons[place].map((reason) => `${groupWords(cell.group)}: ${reason}`));
  part("held").replaceChildren(...(held.length ? held : ["None: no rule changed anything."]).map((text) => made("li", {}, text)));
  part("accounting").replaceChildren(...accountingParts(accounting));
  part("bytes").textContent = new TextDecoder().decode(message);
  part("save-words").textContent = saveWords(ledger);
  part("saved").textContent = "";
  show("save-ledger", ledger !== null);
  part("save").disabled = ledger !== null;
  part("save").textContent = ledger === null ? "Save the message" : "2. Save the message";
  show("leaves");
  part("leaves").focus();
  part("leaves").scrollIntoView();
}

function captionWords(kind) {
  if (kind === "counts") return "Each mark is a score with the number of records that would be sent for it.";
  return kind === "mean" ? "Each mark is one number that would be sent: a mean of equally many records." : "Each mark is one number that would be sent: the score at a rank.";
}

function saveWords(ledger) {
  if (ledger === null) return "No ledger: nothing remembers this release. Keep the message; a second, different one of the same records could reveal a record.";
  return "The ledger comes first: save it in the place of the old one. Then save the message, and send it unchanged to the auditor.";
}

function cellRow(cell) {
  const name = groupWords(cell.group);
  const count = cell.count === null ? "-" : withCommas(cell.count);
  const status = cell.withheld ? `withheld (${cell.withheld})` : cell.values ? "sent" : "no record";
  if (!cell.values) return [name, count, "-", "-", "-", "-", status];
  if (cell.counts) return [name, count, withCommas(cell.levels), "-", "-", "-", status];
  const middle = cell.values[(cell.levels - 1) >> 1];
  return [name, count, withCommas(cell.levels), ...[cell.values[0], middle, cell.values[cell.levels - 1]].map(shortNumber), status];
}

function accountingParts({ read, filtered, withoutScore, records, relabeled }) {
  const counts = [["Rows read", read], ["Left out by the filter", filtered], ["Left out without a score", withoutScore], ["Records", records]];
  const rows = counts.filter(([words, rows]) => rows || ["Rows read", "Records"].includes(words)).map(([words, rows]) => [words, withCommas(rows)]);
  const shown = [tableOf("Rows of the table", ["What became of them", "Rows"], rows)];
  if (relabeled.length) {
    const own = relabeled.slice(0, 20).map((each) => [each.label ?? "no label", withCommas(each.rows), `${groupWords(each.group)} (${WHY[each.reason]})`]);
    shown.push(made("h4", {}, "Labels that count as a group of another name"), tableOf("Labels of another name", ["Label", "Rows", "Counts as"], own));
  }
  return shown;
}

function messageName(silo) {
  if (told.files[silo]) return told.files[silo];
  const kept = [...silo].map((c) => (/[\p{L}\p{N}._-]/u.test(c) ? c : "-")).join("");
  return `${[...kept.replace(/^[.-]+|[.-]+$/g, "")].slice(0, 80).join("") || "silo"}.sketch.json`;
}

function saveLedger() {
  saveFile(released.ledger.name, released.ledger.bytes, "application/x-ndjson");
  part("save").disabled = false;
  part("saved").textContent = `Saved ${released.ledger.name}: put it in the place of the old ledger, then save the message.`;
}

function saveMessage() {
  const name = messageName(released.silo);
  saveFile(name, released.message, "application/json");
  part("saved").textContent = `Saved ${name}. Next: send the file, unchanged, to the auditor.`;
}

function drawRemembered() {
  const [policy, ledger] = [part("policy").files.length, part("ledger").files.length || part("begin-ledger").checked];
  const floors = policy ? "Your policy is asked before a row is read." : "Without your policy, the default rules hold.";
  const asked = plan.signed && !part("key").files.length ? " The plan asks for a signed message: choose the key." : "";
  part("remembered").textContent = `${floors} ${ledger ? "Your ledger is asked, and gets a line for this release." : "Without your ledger, nothing remembers this release."}${asked}`;
}

drawSilo();
drawRemembered();
show("period-field", Boolean(told.document.period));
part("rule-files").open = plan.signed;
for (const id of ["file", "delimiter", "decimal", "encoding"]) part(id).addEventListener("change", () => attempt(readColumns));
// A file that is dropped beside a field would otherwise be opened instead of the page.
const isOurs = ({ target, dataTransfer }) => dataTransfer.types.includes("Files") && target.type !== "file";
document.addEventListener("dragover", (event) => isOurs(event) && event.preventDefault());
document.addEventListener("drop", (event) => {
  if (!isOurs(event)) return;
  event.preventDefault();
  attempt(() => takeDropped(event.dataTransfer.files));
});
part("read-labels").addEventListener("click", () => attempt(readLabels));
part("compute").addEventListener("click", () => attempt(compute));
part("cancel").addEventListener("click", () => worker.stop());
part("save-ledger").addEventListener("click", saveLedger);
part("save").addEventListener("click", saveMessage);
document.addEventListener("change", () => {
  choicesMade += 1;
  drawRemembered();
  show("leaves", false); // what was shown belongs to other choices
});
