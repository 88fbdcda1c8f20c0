// Delimited text, such as CSV: its header, and its records as places of bytes; no text is built per row.

import { PageError, quoted, withCommas } from "./page_errors.js";
import { BLOCK_BYTES, byteBlocks } from "./byte_blocks.js";

const [QUOTE_BYTE, NEWLINE, RETURN] = [34, 10, 13];
const LONGEST_LINE = 64 << 20;
const DELIMITER_WORDS = [[";", "semicolons"], ["\t", "tabs"], [",", "commas"], ["|", "bars"]];
const SPELLED_DELIMITERS = { tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", space: " " };

/** The character between fields, as an operator may spell it. */
export function delimiterOf(name, spelled) {
  const usual = /\.tsv(\.gz)?$/i.test(name) ? "\t" : ",";
  const chosen = SPELLED_DELIMITERS[spelled] ?? (spelled || usual);
  if (chosen.length === 1 && !'"\r\n\0\ufeff'.includes(chosen) && chosen.charCodeAt(0) <= 127) return chosen;
  throw new PageError(`the delimiter must be one ASCII character, not ${quoted(spelled)}.`, {
    fix: "choose a comma, a semicolon, a tab or the like.",
  });
}

/** Where the first record ends: after a line end with an even number of quotes before it; 0 if it does not. */
function firstRecordEnd(bytes) {
  let quotes = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === QUOTE_BYTE) quotes += 1;
    else if (bytes[at] === NEWLINE && quotes % 2 === 0) return at + 1;
  }
  return 0;
}

function joinedBytes(first, second) {
  if (!first.length) return second;
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

/** A file of delimited text, with the names of columns in its first line. */
export class DelimitedFile {
  constructor(file, { delimiter, encoding, blockBytes = BLOCK_BYTES }) {
    this.file = file;
    this.blockBytes = blockBytes;
    this.delimiter = delimiter;
    this.encoding = encoding;
    this.names = [];
    this.headerBytes = 0;
    this.headerLines = 1;
  }

  /** Read the names of the columns. */
  async readHeader() {
    let start = new Uint8Array(0);
    let end = 0;
    for await (const block of this.blocks()) {
      start = joinedBytes(start, block);
      end = firstRecordEnd(start);
      if (end) break;
      if (start.length > LONGEST_LINE) throw this.lineTooLong();
    }
    const header = start.subarray(0, end || start.length);
    if (!header.some((byte) => byte > 32)) {
      if (!start.some((byte) => byte > 32)) throw this.emptyFile();
    }
    this.headerBytes = header.length;
    this.headerLines = Math.max(1, header.reduce((sum, byte) => sum + (byte === NEWLINE ? 1 : 0), 0));
    this.names = this.namesOf(header);
    return this.names;
  }

  blocks(onRead) {
    return byteBlocks(this.file, this.encoding, { size: this.blockBytes, onRead });
  }

  namesOf(header) {
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(header).replace(/[\r\n]+$/, "");
    } catch {
      throw this.wrongEncoding(header[0] === 0xff || header[0] === 0xfe ? "UTF-16" : "Windows-1252");
    }
    if (text.includes("\0")) throw this.wrongEncoding("UTF-16");
    const names = headerFields(text, this.delimiter);
    if (names === null) throw this.malformedHeader(text);
    if (names.length === 1) this.refuseOtherDelimiter(text);
    return names;
  }

  refuseOtherDelimiter(text) {
    for (const [mark, words] of DELIMITER_WORDS) {
      if (mark === this.delimiter || !text.includes(mark)) continue;
      throw new PageError(`the header of ${quoted(this.file.name)} seems to be delimited by ${words}.`, {
        fix: `choose ${words} under “How the text is written”.`,
      });
    }
  }

  /**
   * Give every record to `sink.row(fields, line)`, where `fields` has the wanted columns; log others.
   *
   * `onBytes(read)` is called after each block with how many bytes of the file were read.
   */
  async scan(wanted, sink, log, onBytes = () => {}) {
    const parser = new RecordParser(this, wanted, sink, log);
    let rest = new Uint8Array(0);
    let skip = this.headerBytes;
    let read = 0;
    for await (const block of this.blocks((bytes) => { read = bytes; })) {
      const fresh = block.subarray(Math.min(skip, block.length));
      skip -= block.length - fresh.length;
      const bytes = joinedBytes(rest, fresh);
      rest = bytes.subarray(parser.parse(bytes, false));
      if (rest.length > LONGEST_LINE) {
        if (parser.openQuote) log.quotes.add(parser.line + 1);
        else throw this.lineTooLong();
        return;
      }
      await onBytes(read);
    }
    parser.parse(rest, true);
  }

  lineTooLong() {
    return new PageError(`a line of ${quoted(this.file.name)} does not end within 64 MB.`, {
      fix: "check that lines end with \\n or \\r\\n, and that every quote is closed.",
    });
  }

  emptyFile() {
    return new PageError(`${this.file.name} has no row.`, { fix: "give at least one record." });
  }

  wrongEncoding(likely) {
    return new PageError(`${quoted(this.file.name)} is not text in UTF-8.`, {
      fix: `choose the encoding that it was saved in, under “How the text is written”: ${likely}, perhaps.`,
    });
  }

  malformedHeader(text) {
    const columns = withCommas(text.split(this.delimiter).length);
    return new PageError(
      `some lines of ${quoted(this.file.name)} do not hold the ${columns} fields that its header ` +
        "names, or a quote in them is not closed.",
      {
        fix: text.includes("\r")
          ? "end lines with \\n or \\r\\n: lone carriage returns do not end a line."
          : "put quotes around fields that hold the delimiter, double the quotes inside fields, and give every column a name.",
      },
    );
  }
}

/** The fields of a header, or null if its quotes are wrong. */
function headerFields(text, delimiter) {
  if (text === "") return [];
  const names = [];
  let at = 0;
  for (;;) {
    let name = "";
    if (text[at] === '"') {
      const closed = /^"((?:[^"]|"")*)"/s.exec(text.slice(at));
      if (closed === null) return null;
      name = closed[1].replaceAll('""', '"');
      at += closed[0].length;
      if (at < text.length && text[at] !== delimiter) return null;
    } else {
      const end = text.indexOf(delimiter, at);
      name = text.slice(at, end < 0 ? text.length : end);
      if (/[\r\n]/.test(name)) return null;
      at += name.length;
    }
    names.push(name);
    if (at >= text.length) return names;
    at += 1;
  }
}

/** The places of the wanted fields of one record. */
class FieldPlaces {
  constructor(size) {
    this.bytes = new Array(size).fill(null);
    this.starts = new Int32Array(size);
    this.ends = new Int32Array(size);
  }
}

/** Takes blocks of bytes apart into records; what cannot be taken apart is logged. */
class RecordParser {
  constructor(table, wanted, sink, log) {
    this.width = table.names.length;
    this.delimiter = table.delimiter.charCodeAt(0);
    this.slots = new Int32Array(this.width).fill(-1);
    wanted.forEach((column, slot) => { this.slots[column] = slot; });
    this.fields = new FieldPlaces(wanted.length);
    this.sink = sink;
    this.log = log;
    this.line = table.headerLines;
    this.openQuote = false; // whether the record that is not whole ends inside quotes
  }

  /** Read all whole records; return where the first one begins that is not whole. */
  parse(bytes, last) {
    this.bytes = bytes;
    this.fields.bytes.fill(bytes);
    let start = 0;
    while (start < bytes.length) {
      const end = this.record(start, last);
      if (end < 0) return start;
      start = end;
    }
    return start;
  }

  /** Read the record from `start` on; return where the next one begins, or -1 if it is not whole. */
  record(start, last) {
    const { bytes, slots, width } = this;
    let at = start;
    let field = 0;
    this.odd = 0; // whether the number of quotes in fields without quotes around them is odd
    this.wrong = false;
    this.lines = 1;
    this.openQuote = false;
    for (;;) {
      const slot = field < width ? slots[field] : -1;
      at = bytes[at] === QUOTE_BYTE ? this.quotedField(at, slot) : this.plainField(at, slot);
      field += 1;
      if (this.odd) this.wrong = true;
      if (at === bytes.length) {
        if (!last) return -1; // what follows may be a part of this field
        break;
      }
      at += 1;
      if (bytes[at - 1] === NEWLINE) break;
    }
    this.finish(start, at, field);
    return at;
  }

  /** Read a field without quotes around it; return where it ends. */
  plainField(start, slot) {
    const { bytes } = this;
    const at = this.fieldEnd(start);
    if (slot >= 0) {
      const ending = at === bytes.length || bytes[at] === NEWLINE;
      this.fields.starts[slot] = start;
      this.fields.ends[slot] = ending && at > start && bytes[at - 1] === RETURN ? at - 1 : at;
    }
    return at;
  }

  /** Where the next delimiter or line end is; quotes on the way are counted. */
  fieldEnd(start) {
    const { bytes, delimiter } = this;
    const size = bytes.length;
    let at = start;
    while (at < size) {
      const byte = bytes[at];
      if (byte === delimiter || byte === NEWLINE) break;
      if (byte === QUOTE_BYTE) this.odd ^= 1;
      at += 1;
    }
    return at;
  }

  /** Read a field between quotes; return where it ends. */
  quotedField(start, slot) {
    const { bytes, fields } = this;
    const close = this.closingQuote(start + 1);
    this.openQuote = close < 0;
    if (close < 0) {
      this.wrong = true;
      return bytes.length;
    }
    if (slot >= 0) {
      fields.starts[slot] = start + 1;
      fields.ends[slot] = close;
      if (this.doubled) this.unescape(slot);
    }
    if (!this.endsField(close + 1)) this.wrong = true;
    return this.fieldEnd(close + 1);
  }

  endsField(at) {
    const { bytes, delimiter } = this;
    if (at === bytes.length || bytes[at] === delimiter || bytes[at] === NEWLINE) return true;
    return bytes[at] === RETURN && (at + 1 === bytes.length || bytes[at + 1] === NEWLINE);
  }

  /** Where the quote stands that closes a field, or -1. */
  closingQuote(start) {
    const { bytes } = this;
    this.doubled = false;
    for (let at = start; at < bytes.length; at += 1) {
      if (bytes[at] === NEWLINE) this.lines += 1;
      else if (bytes[at] === QUOTE_BYTE) {
        if (bytes[at + 1] !== QUOTE_BYTE) return at;
        this.doubled = true;
        at += 1;
      }
    }
    return -1;
  }

  /** Copy a field with doubled quotes, each of them once. */
  unescape(slot) {
    const { bytes, fields } = this;
    const own = [];
    for (let at = fields.starts[slot]; at < fields.ends[slot]; at += 1) {
      own.push(bytes[at]);
      if (bytes[at] === QUOTE_BYTE) at += 1;
    }
    fields.bytes[slot] = Uint8Array.from(own);
    fields.starts[slot] = 0;
    fields.ends[slot] = own.length;
    this.copied = true;
  }

  /** Give a whole record to the sink, or log what is wrong with it; a line of nothing is neither. */
  finish(start, end, count) {
    const first = this.line + 1;
    this.line += this.lines;
    if (this.wrong) this.log.quotes.add(first);
    else if (!this.isBlank(start, end)) {
      if (count === this.width) this.sink.row(this.fields, first);
      else this.log.fields.add(first);
    }
    if (this.copied) this.fields.bytes.fill(this.bytes);
    this.copied = false;
  }

  isBlank(start, end) {
    if (end - start > 2) return false;
    for (let at = start; at < end; at += 1) {
      if (this.bytes[at] !== NEWLINE && this.bytes[at] !== RETURN) return false;
    }
    return true;
  }
}
