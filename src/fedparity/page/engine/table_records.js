// The records of a table: scores gathered by group, labels looked up by their bytes, faults logged.

import { PageError, listedLabels, withCommas } from "./page_errors.js";
import { NO_NUMBER, latinText } from "./number_fields.js";
import { MISSING_LABEL, UNLISTED_LABEL } from "./group_labels.js";

const MOST_LABELS = 1_000_000;
const FIRST_CHUNK = 1 << 10;
const LARGEST_CHUNK = 1 << 20;
const BROKEN_LABEL = -3;

/** Numbers that are appended one by one, and then sorted in one array. */
class ScoreList {
  constructor() {
    this.full = [];
    this.chunk = new Float64Array(FIRST_CHUNK);
    this.used = 0;
    this.length = 0;
  }

  push(score) {
    if (this.used === this.chunk.length) {
      this.full.push(this.chunk);
      this.chunk = new Float64Array(Math.min(2 * this.chunk.length, LARGEST_CHUNK));
      this.used = 0;
    }
    this.chunk[this.used] = score;
    this.used += 1;
    this.length += 1;
  }

  /** All of them in increasing order; the list is empty afterwards. */
  sorted() {
    const all = new Float64Array(this.length);
    let at = 0;
    for (const chunk of this.full) {
      all.set(chunk, at);
      at += chunk.length;
    }
    all.set(this.chunk.subarray(0, this.used), at);
    this.full = [];
    this.chunk = new Float64Array(0);
    this.used = 0;
    return all.sort();
  }
}

/** The labels of one column: a number for each, found by its bytes without building a text. */
export class LabelTable {
  constructor(column, na = []) {
    this.column = column;
    this.na = new Set(na);
    this.slots = new Int32Array(1 << 10).fill(-1);
    this.hashes = [];
    this.raw = [];
    this.texts = [];
    this.byText = new Map();
    this.decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  }

  /** The number of the label in `bytes[start..end]`. */
  idOf(bytes, start, end) {
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ bytes[at], 0x01000193);
    hash ^= hash >>> 15;
    const mask = this.slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.slots[slot];
      if (id < 0) return this.addBytes(bytes.slice(start, end), hash, slot);
      if (this.hashes[id] === hash && sameBytes(this.raw[id], bytes, start, end)) return id;
    }
  }

  /** The number of a label that is a text already, null where it is missing. */
  idOfText(text) {
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    const id = this.add(text);
    this.byText.set(text, id);
    return id;
  }

  addBytes(own, hash, slot) {
    const id = this.add(this.decoded(own));
    this.hashes.push(hash);
    this.raw.push(own);
    this.slots[slot] = id;
    if (2 * this.texts.length > this.slots.length) this.grow();
    return id;
  }

  add(text) {
    if (this.texts.length >= MOST_LABELS) {
      throw new PageError(
        `${listedLabels([this.column])} holds more than ${withCommas(MOST_LABELS)} different labels.`,
        { fix: "choose the column of the groups, not one that differs in every record." },
      );
    }
    this.texts.push(text);
    return this.texts.length - 1;
  }

  /** The text of a label; null where it is missing, undefined where it is not UTF-8. */
  decoded(own) {
    try {
      const text = this.decoder.decode(own);
      return text === "" || this.na.has(text) ? null : text;
    } catch {
      return undefined;
    }
  }

  grow() {
    this.slots = new Int32Array(2 * this.slots.length).fill(-1);
    const mask = this.slots.length - 1;
    this.hashes.forEach((hash, id) => {
      let slot = hash & mask;
      while (this.slots[slot] >= 0) slot = (slot + 1) & mask;
      this.slots[slot] = id;
    });
  }
}

function sameBytes(known, bytes, start, end) {
  if (known.length !== end - start) return false;
  for (let i = 0; i < known.length; i += 1) if (known[i] !== bytes[start + i]) return false;
  return true;
}

/** The combinations of labels that occur: a code of a group for each, and how many records have it. */
class LabelKeys {
  constructor(tables, listing) {
    this.tables = tables;
    this.listing = listing;
    this.pairs = tables.slice(1).map(() => new Map());
    this.single = [];
    this.keys = [];
    this.codes = [];
    this.counts = [];
  }

  /** The place of the key of a record whose labels have these numbers. */
  placeOf(ids) {
    if (ids.length === 1) return (this.single[ids[0]] ??= this.add(ids));
    let place = ids[0];
    for (let i = 1; i < ids.length; i += 1) {
      const pair = place * 2 ** 26 + ids[i];
      const known = this.pairs[i - 1].get(pair);
      if (known !== undefined) place = known;
      else {
        const own = i === ids.length - 1 ? this.add(ids) : this.pairs[i - 1].size;
        this.pairs[i - 1].set(pair, own);
        place = own;
      }
    }
    return place;
  }

  add(ids) {
    const key = Array.from(ids, (id, i) => this.tables[i].texts[id]);
    const broken = key.includes(undefined);
    this.keys.push(key);
    this.codes.push(broken ? BROKEN_LABEL : this.listing.codeOf(key));
    this.counts.push(0);
    if (this.codes[this.codes.length - 1] === UNLISTED_LABEL) this.listing.addUnlisted(key, 0);
    return this.keys.length - 1;
  }

  /** Tell the listing how many records have each label. */
  settle() {
    this.keys.forEach((key, place) => {
      if (!this.counts[place]) return;
      if (this.codes[place] === UNLISTED_LABEL) this.listing.addUnlisted(key, this.counts[place]);
      else if (this.codes[place] >= 0) this.listing.addRelabeled(key, this.counts[place]);
    });
  }
}

/** Takes the rows of a table, and keeps the scores of each group. */
export class TableRecords {
  constructor({ plan, roles, listing, log, numbers, na }) {
    this.roles = roles;
    this.log = log;
    this.numbers = numbers;
    this.marks = plan.marks;
    [this.low, this.high] = plan.scoreRange;
    this.tables = roles.groups.map((name) => new LabelTable(name, na));
    this.keys = new LabelKeys(this.tables, listing);
    this.scores = plan.groups.map(() => new ScoreList());
    this.ids = new Int32Array(roles.groups.length);
    this.rowsRead = 0;
    this.withoutScore = 0;
  }

  /** A record of delimited text: the score is the first of the wanted fields, then the labels. */
  row(fields, line) {
    this.rowsRead += 1;
    const { ids } = this;
    for (let i = 0; i < ids.length; i += 1) {
      ids[i] = this.tables[i].idOf(fields.bytes[i + 1], fields.starts[i + 1], fields.ends[i + 1]);
    }
    const [bytes, start, end] = [fields.bytes[0], fields.starts[0], fields.ends[0]];
    const score = this.numbers.read(bytes, start, end);
    const { kind } = this.numbers;
    if (kind === NO_NUMBER || score !== score) {
      if (this.isBroken(bytes, start, end)) this.log.encoding.add(line);
      else if (kind === NO_NUMBER) this.addUnparsed(bytes, start, end, line);
      else this.addMissing(line);
      return;
    }
    this.add(score, line);
  }

  /** A row of typed columns: `score` is null where it is missing, `labels` are texts or null. */
  typedRow(score, labels, line) {
    this.rowsRead += 1;
    labels.forEach((label, i) => { this.ids[i] = this.tables[i].idOfText(label); });
    if (score === null || score !== score) this.addMissing(line);
    else this.add(score, line);
  }

  add(score, line) {
    const place = this.keys.placeOf(this.ids);
    const code = this.keys.codes[place];
    if (code === BROKEN_LABEL) {
      this.log.encoding.add(line);
      return;
    }
    this.keys.counts[place] += 1;
    if (score === Infinity || score === -Infinity) this.log.infinite.add(line);
    else if (score < this.low || score > this.high) this.log.outside.add(line);
    if (code >= 0) this.scores[code].push(score);
    else if (code === MISSING_LABEL) this.log.unlabeled.add(line);
    else this.log.unlisted.add(line);
  }

  addMissing(line) {
    this.withoutScore += 1;
    this.log.missing.add(line);
  }

  addUnparsed(bytes, start, end, line) {
    const text = latinText(bytes, start, end).replace(/^[ \t]+|[ \t]+$/g, "");
    this.log.addNumber(this.roles.score, line, text, this.marks);
  }

  /** Whether a wanted field of the current row is not UTF-8. */
  isBroken(bytes, start, end) {
    if (this.tables.some((table, i) => table.texts[this.ids[i]] === undefined)) return true;
    try {
      this.tables[0].decoder.decode(bytes.subarray(start, end));
      return false;
    } catch {
      return true;
    }
  }
}
