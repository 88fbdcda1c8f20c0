// Parquet files, decoded one row group at a time by hyparquet: only the columns that are wanted.

import { PageError, quoted, shortened } from "./page_errors.js";
import { damagedFile } from "./byte_blocks.js";
import { parquetMetadataAsync, parquetSchema } from "../vendor/hyparquet/metadata.js";
import { DEFAULT_PARSERS } from "../vendor/hyparquet/convert.js";
import { readColumn } from "../vendor/hyparquet/column.js";
import { gunzip } from "../vendor/hyparquet-compressors/gzip.js";
import { decompress } from "../vendor/fzstd/fzstd.js";

const COMPRESSORS = {
  GZIP: (input, size) => gunzip(input, new Uint8Array(size)),
  ZSTD: (input, size) => decompress(input, new Uint8Array(size)),
};
const READABLE_CODECS = ["UNCOMPRESSED", "SNAPPY", ...Object.keys(COMPRESSORS)];
const NUMBER_TYPES = ["BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE"];
const EXACT_DIGITS = 15;
const LARGEST_WHOLE = 2 ** 63;

export function isParquet(name) {
  return /\.(parquet|pq)$/i.test(name);
}

/** A Parquet file; its columns are found by the names at the top of its schema. */
export class ParquetFile {
  constructor(file) {
    this.file = file;
    this.names = [];
    this.metadata = null;
  }

  /** Read the names of the columns. */
  async readHeader() {
    const { file } = this;
    const source = {
      byteLength: file.size,
      slice: (start, end) => file.slice(start, end).arrayBuffer(),
    };
    this.metadata = await this.whole(() => parquetMetadataAsync(source, { geoparquet: false }));
    this.tree = parquetSchema(this.metadata);
    this.names = this.tree.children.map((child) => child.element.name);
    return this.names;
  }

  /** What is known of each column without reading it. */
  columnFacts() {
    const rows = Number(this.metadata.num_rows);
    return this.tree.children.map(({ element }) => {
      return { name: element.name, rows, numbers: isNumeric(element) ? rows : 0, empty: 0 };
    });
  }

  /** Give every row to `sink.typedRow(score, labels)`; the score is the first of the wanted columns. */
  async scan(wanted, sink, _, onBytes = () => {}, { labelsOnly = false } = {}) {
    const readers = wanted.map((place, i) => this.readerOf(place, !labelsOnly && i === 0));
    let bytes = 0;
    for (const group of this.metadata.row_groups) {
      const columns = [];
      for (const [i, place] of wanted.entries()) {
        const chunk = this.chunkOf(group, this.names[place]);
        columns.push(await this.whole(() => this.decoded(chunk, place, Number(group.num_rows))));
        columns[i] = readers[i](columns[i]);
        bytes += Number(chunk.total_compressed_size);
      }
      const scores = labelsOnly ? null : columns.shift();
      const labels = new Array(columns.length);
      for (let row = 0; row < Number(group.num_rows); row += 1) {
        for (let i = 0; i < labels.length; i += 1) labels[i] = columns[i][row];
        sink.typedRow(scores && scores[row], labels, 0);
      }
      await onBytes(bytes);
    }
  }

  chunkOf(group, name) {
    const { meta_data: chunk } = group.columns.find((column) => column.meta_data.path_in_schema[0] === name);
    if (READABLE_CODECS.includes(chunk.codec)) return chunk;
    throw new PageError(`the page does not read the compression ${chunk.codec} of ${quoted(this.file.name)}.`, {
      fix: "write the file with snappy, gzip or zstd, or use the command fedparity sketch.",
    });
  }

  /** The values of a column in a row group, as hyparquet decodes them. */
  async decoded(chunk, place, rows) {
    const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
    const part = this.file.slice(start, start + Number(chunk.total_compressed_size));
    const reader = { view: new DataView(await part.arrayBuffer()), offset: 0 };
    const node = this.tree.children[place];
    const { data } = readColumn(reader, { groupStart: 0, selectStart: 0, selectEnd: rows }, {
      ...chunk,
      pathInSchema: chunk.path_in_schema,
      element: node.element,
      schemaPath: [this.tree, node],
      compressors: COMPRESSORS,
      parsers: { ...DEFAULT_PARSERS, stringFromBytes: (bytes) => bytes && this.text(bytes, node.element) },
    });
    const values = data.length === 1 ? data[0] : [].concat(...data.map((each) => Array.from(each)));
    if (values.length !== rows) throw new RangeError("a column is shorter than its row group");
    return values;
  }

  text(bytes, element) {
    this.decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      return this.decoder.decode(bytes);
    } catch {
      throw notALabel(element);
    }
  }

  /** What turns the decoded values of a column into scores, or into texts of labels. */
  readerOf(place, isScore) {
    const { element, children } = this.tree.children[place];
    const simple = !children.length && element.repetition_type !== "REPEATED";
    const exact = exactDecimal(element);
    if (isScore) {
      if (!simple || !isNumeric(element)) throw notNumeric(element);
      return (values) => Array.from(values, (value) => (value == null ? null : exact(Number(value))));
    }
    if (!simple || !(isNumeric(element) || isText(element))) throw notALabel(element);
    return (values) => Array.from(values, (value) => labelText(typeof value === "number" ? exact(value) : value));
  }

  /** Run what reads the file; an error that is not ours says that the file is damaged. */
  async whole(read) {
    try {
      return await read();
    } catch (error) {
      throw error instanceof PageError ? error : damagedFile(this.file.name, "Parquet");
    }
  }
}

function logicalKind(element) {
  return element.logical_type?.type ?? element.converted_type ?? null;
}

function isNumeric(element) {
  const kind = logicalKind(element);
  if (kind === "DECIMAL") return true;
  if (kind === "FLOAT16") return true;
  return NUMBER_TYPES.includes(element.type) && (kind === null || /^U?INT|^NULL$|^UNKNOWN$/.test(kind));
}

function isText(element) {
  return element.type === "BYTE_ARRAY" && [null, "STRING", "UTF8", "ENUM"].includes(logicalKind(element));
}

/** What repairs the last place of decimals: one division of two exact floats is rounded once. */
function exactDecimal(element) {
  if (logicalKind(element) !== "DECIMAL") return (value) => value;
  if (element.precision > EXACT_DIGITS) {
    throw new PageError(
      `column ${quoted(shortened(element.name))} holds decimals of ${element.precision} digits, and the page reads up to ${EXACT_DIGITS}.`,
      { fix: "write the column as 64-bit floats, or use the command fedparity sketch." },
    );
  }
  const scale = element.scale || 0;
  return (value) => Math.round(value / 10 ** -scale) / 10 ** scale;
}

/** The text of a label, as Python's `label_text`; null where it is missing. */
function labelText(value) {
  if (value == null || value === "" || value !== value) return null;
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < LARGEST_WHOLE) return BigInt(value).toString();
  return pythonFloat(value);
}

/** A float as Python's `repr` writes it. */
function pythonFloat(value) {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

function typeWords(element) {
  return { STRING: "string", UTF8: "string" }[logicalKind(element)]
    ?? (logicalKind(element) ?? element.type ?? "nested").toLowerCase();
}

function notNumeric(element) {
  return new PageError(
    `the numbers of column ${quoted(element.name)} must be real numbers, but their type is ${typeWords(element)}.`,
    { fix: "convert them to float64, and check how the column was written." },
  );
}

function notALabel(element) {
  return new PageError(
    `labels in column ${quoted(shortened(element.name))} must be text, numbers, booleans or categories, ` +
      `but their type is ${typeWords(element)}.`,
    { fix: "convert the column to text, one label per record." },
  );
}
