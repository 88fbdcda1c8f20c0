// A silo's table to its message, byte for byte the one of `fedparity sketch`: what the page calls.
//
// sketchTable({ plan, file, options, onProgress }) -> { message, document, cells, decisions, records, accounting }
//   plan      what `fedparity.page.page_plan` writes, as JSON
//   file      a File (a Blob with a name): .csv, .tsv, either with .gz, or .parquet; read in blocks
//   options   { silo: "aurora",            the silo's name in the plan; needed
//               score: "risk",             a column; "score" if absent
//               group: ["sex", "age"],     columns, as many as the plan's groups have parts; ["group"] if absent
//               map: { F: "female", "": "unknown" },  labels read as another, "" for a missing one; or pairs
//               other: "other",            the group that takes every label that the plan does not list
//               missing: "refuse" | "drop",  rows without a score; refused if absent
//               delimiter: "," | ";" | "tab" …,  of a text; by the ending of the file if absent
//               decimal: "." | ",",        of a text
//               encoding: "utf-8" | "utf-16" | "cp1252" | "latin-1",  of a text
//               na: ["NA"],                fields of a text that mean that nothing is there
//               blockBytes: 4 << 20,       bytes of a text that are read at once; of no effect on the message
//               replaces: "sha256:…" }     the digest of an earlier message that was voided; usually absent
//   onProgress({ phase: "reading" | "computing", bytes, totalBytes, rows })  now and then
//
// message     Uint8Array: the canonical bytes, not signed; document: the same as an object, for signing
// cells       the cells of the document
// decisions   for each group { levels, withheld, reasons }: the rules that changed something; not to be sent
// records     for each group how many records it has; not to be sent
// accounting  { read, filtered, withoutScore, records, relabeled: [{ label, group, reason, rows }] }
//
// readHeader({ file, options }) -> { format, columns: [{ name, rows, numbers, empty }] }: what the first
//   rows of each column are, as counts.
// readLabels({ plan, file, options, onProgress }) -> [{ label, rows, group, reason }]: the labels of the
//   group columns, how many rows have each, and which group each counts as (null: none yet), most frequent first.
//
// All raise a PageError with `fix` and `code`: 3 for what the data or the options lack, 4 where a rule refuses.

import { BAD_DATA, PageError, REFUSED_BY_RULE, byCodePoints, isName, listedLabels, quoted, shortened, withCommas } from "./page_errors.js";
import { knownEncoding } from "./byte_blocks.js";
import { DelimitedFile, delimiterOf } from "./delimited_text.js";
import { NUMBER, EMPTY_NUMBER, NumberReader } from "./number_fields.js";
import { GroupListing, shownKey } from "./group_labels.js";
import { FaultLog } from "./fault_log.js";
import { LabelTable, TableRecords } from "./table_records.js";
import { releasedCells } from "./message_cells.js";
import { canonicalBytes } from "./canonical_json.js";
import { ParquetFile, isParquet } from "./parquet_table.js";

const FIRST_ROWS = 1000;
const MOST_COLUMNS_SHOWN = 8;

/** Read a table, and return the message that the plan asks of this silo, with what the operator may see. */
export async function sketchTable({ plan, file, options, onProgress = () => {} }) {
  checkPlan(plan);
  checkSilo(plan, options.silo);
  const table = await openTable(file, options);
  const roles = rolesOf(table.names, options, file);
  const listing = new GroupListing(plan, roles.groups, options);
  const log = new FaultLog();
  const records = new TableRecords({ plan, roles, listing, log, numbers: table.numbers, na: options.na });
  const wanted = [roles.score, ...roles.groups].map((name) => table.names.indexOf(name));
  await table.scan(wanted, records, log, async (bytes) => {
    await onProgress({ phase: "reading", bytes, totalBytes: file.size, rows: records.rowsRead });
  });
  records.keys.settle();
  const fault = log.error({ ...roles, scoreRange: plan.scoreRange, listing });
  if (fault) throw fault;
  if (!records.rowsRead) throw new PageError("the table has no row.", { fix: "give at least one record." });
  await onProgress({ phase: "computing", bytes: file.size, totalBytes: file.size, rows: records.rowsRead });
  const released = releasedCells(plan, options.silo, records.scores);
  const document = messageDocument(plan, options, released.cells, records.withoutScore);
  return { ...released, document, message: canonicalBytes(document), accounting: accountingOf(records, listing) };
}

/** The message as JSON holds it, not signed. */
function messageDocument(plan, options, cells, dropped) {
  return {
    schema: plan.messageSchema,
    plan: plan.digest,
    silo: options.silo,
    kind: plan.kind,
    cells,
    rows_dropped: dropped,
    rows_filtered: 0,
    guarantee: plan.guarantee,
    software: plan.software,
    ...(options.replaces ? { replaces: options.replaces } : {}),
  };
}

function accountingOf(records, listing) {
  const relabeled = [...listing.relabeled.values()].sort((a, b) => b.rows - a.rows);
  const { rowsRead, withoutScore } = records;
  return { read: rowsRead, filtered: 0, withoutScore, records: rowsRead - withoutScore, relabeled };
}

/** Refuse a plan that the page does not follow. */
function checkPlan(plan) {
  if (!plan.declined) return;
  throw new PageError(`the page cannot answer this plan: ${plan.declined}.`, {
    fix: "use the command: fedparity sketch plan.toml DATA --silo NAME.",
    code: REFUSED_BY_RULE,
  });
}

function checkSilo(plan, silo) {
  if (plan.silos !== null && !plan.silos.includes(silo)) {
    throw new PageError(
      `silo ${quoted(silo ?? "")} is not among the ${withCommas(plan.silos.length)} silos of the plan.`,
      { fix: `choose one of the plan's silos: ${listedLabels(plan.silos)}.` },
    );
  }
  if (plan.silos === null && !isName(silo)) {
    throw new PageError("the silo's name must be a text of 1 to 200 characters that can be seen.", {
      fix: "write the name under which this silo answers, on one line.",
    });
  }
}

async function openTable(file, options) {
  if (isParquet(file.name)) refuseTextOptions(options);
  const table = isParquet(file.name) ? new ParquetFile(file) : delimitedTable(file, options);
  await table.readHeader();
  return table;
}

/** Options that say how a text is written do not go with Parquet. */
function refuseTextOptions({ delimiter, decimal = ".", encoding, na = [] }) {
  const given = [["delimiter", delimiter], ["decimal", decimal !== "."], ["encoding", encoding], ["na", na.length]];
  const name = given.find(([, value]) => value)?.[0];
  if (!name) return;
  throw new PageError(
    `--${name} goes with delimited text, such as a CSV file, and the data are of the format Parquet.`,
    { fix: `leave out --${name}.` },
  );
}

function delimitedTable(file, options) {
  refuseUnknownFormat(file, options);
  const decimal = options.decimal ?? ".";
  if (![".", ","].includes(decimal)) {
    throw new PageError(`decimal must be one of '.', ',', not ${quoted(decimal)}.`, { fix: "pass one of '.', ','." });
  }
  const table = new DelimitedFile(file, {
    delimiter: delimiterOf(file.name, options.delimiter),
    encoding: knownEncoding(options.encoding),
    blockBytes: options.blockBytes,
  });
  table.numbers = new NumberReader({ decimal, na: options.na });
  return table;
}

function refuseUnknownFormat(file, options) {
  if (/\.(csv|tsv)(\.gz)?$/i.test(file.name) || (/\.gz$/i.test(file.name) && !/\.\w+\.gz$/i.test(file.name))) return;
  const known = /\.(xlsx|xlsm|arrow|arrows|ipc|feather|zst)$/i.test(file.name);
  if (options.delimiter && !known) return;
  throw new PageError(`the page does not read the format of ${quoted(file.name)}.`, {
    fix: "export the table as .csv, .tsv, .csv.gz or .parquet, or use the command fedparity sketch; for delimited text of another ending, choose its delimiter under “How the text is written”.",
  });
}

/** Which column is what. */
function rolesOf(names, options, file) {
  const chosen = typeof options.group === "string" ? [options.group] : options.group;
  const roles = {
    score: named(options.score, "score", names),
    groups: chosen?.length ? [...chosen] : [named(null, "group", names)],
    missing: options.missing ?? "refuse",
  };
  if (!["refuse", "drop"].includes(roles.missing)) {
    throw new PageError(`missing must be one of 'refuse', 'drop', not ${quoted(roles.missing)}.`, {
      fix: "pass one of 'refuse', 'drop'.",
    });
  }
  refuseWrongNames([roles.score, ...roles.groups], names, file);
  return roles;
}

function named(name, role, names) {
  if (name) return name;
  if (names.includes(role)) return role;
  throw new PageError(`no ${role} column was named; the table has ${columnWords(names)}.`, {
    fix: `choose the column of the ${role}.`,
  });
}

function refuseWrongNames(wanted, names, file) {
  const twice = wanted.find((name, place) => wanted.indexOf(name) !== place);
  if (twice !== undefined) {
    throw new PageError(`column ${quoted(shortened(twice))} is asked for in two roles.`, {
      fix: "choose different columns for the score and the groups.",
    });
  }
  const missing = wanted.filter((name) => !names.includes(name));
  if (missing.length) {
    const words = missing.map((name) => quoted(shortened(name))).join(", ");
    throw new PageError(`${file.name} has no column ${words}; it has ${columnWords(names)}.`, {
      fix: "choose one of its columns.",
    });
  }
  const repeated = wanted.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated !== undefined) {
    throw new PageError(`${file.name} has more than one column ${quoted(shortened(repeated))}.`, {
      fix: "give every column a name of its own.",
      code: BAD_DATA,
    });
  }
}

function columnWords(names) {
  if (!names.length) return "no column";
  const shown = names.slice(0, MOST_COLUMNS_SHOWN).map((name) => quoted(shortened(name))).join(", ");
  const more = names.length - MOST_COLUMNS_SHOWN;
  return more > 0 ? `${shown} and ${withCommas(more)} more` : shown;
}

class EnoughRows extends Error {}

/** Counts what the first rows of every column are. */
class ColumnFacts {
  constructor(names, numbers) {
    this.numbers = numbers;
    this.columns = names.map((name) => ({ name, rows: 0, numbers: 0, empty: 0 }));
  }

  row(fields) {
    this.columns.forEach((column, i) => {
      this.numbers.read(fields.bytes[i], fields.starts[i], fields.ends[i]);
      column.rows += 1;
      column.numbers += this.numbers.kind === NUMBER ? 1 : 0;
      column.empty += this.numbers.kind === EMPTY_NUMBER ? 1 : 0;
    });
    if (this.columns[0].rows >= FIRST_ROWS) throw new EnoughRows();
  }
}

/** The columns of a table, and for each how many of the first rows are numbers or empty; no value. */
export async function readHeader({ file, options = {} }) {
  const table = await openTable(file, options);
  if (isParquet(file.name)) return { format: "Parquet", columns: table.columnFacts() };
  const facts = new ColumnFacts(table.names, table.numbers);
  try {
    await table.scan([...table.names.keys()], facts, new FaultLog());
  } catch (error) {
    if (!(error instanceof EnoughRows)) throw error;
  }
  return { format: table.delimiter === "\t" ? "TSV" : "CSV", columns: facts.columns };
}

/** Counts the labels of some columns. */
class LabelCounts {
  constructor(columns, na) {
    this.tables = columns.map((name) => new LabelTable(name, na));
    this.rows = new Map();
    this.rowsRead = 0;
  }

  row(fields) {
    this.count(this.tables.map((table, i) => table.texts[table.idOf(fields.bytes[i], fields.starts[i], fields.ends[i])]));
  }

  typedRow(_, labels) {
    this.count(labels);
  }

  count(key) {
    this.rowsRead += 1;
    const name = JSON.stringify(key.map((label) => label ?? null));
    this.rows.set(name, (this.rows.get(name) ?? 0) + 1);
  }
}

/** The labels of the group columns, how many rows have each, and which group each counts as. */
export async function readLabels({ plan, file, options, onProgress = () => {} }) {
  const table = await openTable(file, options);
  const columns = [options.group ?? named(null, "group", table.names)].flat();
  refuseWrongNames(columns, table.names, file);
  const counts = new LabelCounts(columns, options.na);
  const listing = new GroupListing(plan, columns, options);
  const wanted = columns.map((name) => table.names.indexOf(name));
  await table.scan(wanted, counts, new FaultLog(), async (bytes) => {
    await onProgress({ phase: "reading", bytes, totalBytes: file.size, rows: counts.rowsRead });
  }, { labelsOnly: true });
  const found = [...counts.rows].map(([name, rows]) => labelRow(JSON.parse(name), rows, listing));
  return found.sort((a, b) => b.rows - a.rows || byCodePoints(a.label ?? "", b.label ?? ""));
}

function labelRow(key, rows, listing) {
  const code = listing.codeOf(key);
  const reason = listing.relabelingOf(key)?.reason ?? null;
  return { label: shownKey(key), key, rows, group: code < 0 ? null : listing.groups[code], reason };
}
