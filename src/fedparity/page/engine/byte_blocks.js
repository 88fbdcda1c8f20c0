// The bytes of a file in blocks of some megabytes: plain or compressed by gzip, in any encoding as UTF-8.

import { PageError, quoted } from "./page_errors.js";

export const BLOCK_BYTES = 4 << 20;
const ENCODINGS = new Map([
  ["utf-8", null], ["utf8", null], ["utf-8-sig", null], ["ascii", null],
  ["utf-16", "utf-16"], ["utf16", "utf-16"], ["utf-16-le", "utf-16le"], ["utf-16le", "utf-16le"],
  ["utf-16-be", "utf-16be"], ["utf-16be", "utf-16be"],
  ["cp1252", "windows-1252"], ["windows-1252", "windows-1252"],
  ["latin-1", "latin-1"], ["latin1", "latin-1"], ["iso-8859-1", "latin-1"],
]);
const NOT_IN_CP1252 = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** The name of an encoding as the page keeps it; null for UTF-8. */
export function knownEncoding(name) {
  const folded = (name ?? "utf-8").toLowerCase().replaceAll("_", "-");
  if (ENCODINGS.has(folded)) return ENCODINGS.get(folded);
  throw new PageError(`the page does not read the encoding ${quoted(name)}.`, {
    fix: "choose another one, or use the command fedparity sketch.",
  });
}

function isGzip(name) {
  return name.toLowerCase().endsWith(".gz");
}

/**
 * Yield the bytes of a file from its start, as UTF-8; about `size` at a time.
 *
 * `onRead(bytes)` is told how many bytes of the file itself were read, compressed as they may be.
 */
export async function* byteBlocks(file, encoding, { size = BLOCK_BYTES, onRead = () => {} } = {}) {
  const raw = isGzip(file.name) ? unpackedBlocks(file, size, onRead) : plainBlocks(file, size, onRead);
  if (encoding === null) yield* raw;
  else yield* transcodedBlocks(raw, encoding, file.name);
}

async function* plainBlocks(file, size, onRead) {
  for (let start = 0; start < file.size; start += size) {
    const part = file.slice(start, start + size);
    onRead(start + part.size);
    yield new Uint8Array(await part.arrayBuffer().catch(() => { throw changedFile(file); }));
  }
}

function changedFile(file) {
  return new PageError(`${quoted(file.name)} changed while it was read, so there is no result.`, {
    fix: "read a copy of the file, or wait until it is written.",
  });
}

async function* unpackedBlocks(file, size, onRead) {
  let read = 0;
  const counting = new TransformStream({
    transform(chunk, output) {
      onRead((read += chunk.length));
      output.enqueue(chunk);
    },
  });
  const reader = file.stream().pipeThrough(counting).pipeThrough(new DecompressionStream("gzip")).getReader();
  let gathered = new Uint8Array(size);
  let used = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw damagedFile(file.name, "compressed"); });
    if (done) break;
    for (let from = 0; from < value.length; ) {
      const part = value.subarray(from, from + size - used);
      gathered.set(part, used);
      used += part.length;
      from += part.length;
      if (used === size) {
        yield gathered;
        gathered = new Uint8Array(size);
        used = 0;
      }
    }
  }
  if (used) yield gathered.subarray(0, used);
}

/** The error of a file that is cut or damaged. */
export function damagedFile(name, format) {
  return new PageError(`${quoted(name)} is not a whole ${format} file: it is truncated or damaged.`, {
    fix: "copy or export the file again, and compare its size with the original.",
  });
}

async function* transcodedBlocks(blocks, encoding, name) {
  const encoder = new TextEncoder();
  let decode = null;
  for await (const block of blocks) {
    decode ??= decoderOf(encoding, block);
    const text = decoded(decode, block, true, encoding, name);
    if (text) yield encoder.encode(text);
  }
  const rest = decode === null ? "" : decoded(decode, new Uint8Array(0), false, encoding, name);
  if (rest) yield encoder.encode(rest);
}

function decoded(decode, block, more, encoding, name) {
  try {
    return decode(block, more);
  } catch {
    const shown = encoding === "windows-1252" ? "cp1252" : encoding;
    throw new PageError(`${quoted(name)} is not text in ${shown}.`, {
      fix: "choose the encoding that it was saved in, under “How the text is written”.",
    });
  }
}

/** What turns bytes into text; a byte order mark stays in it. */
function decoderOf(encoding, first) {
  if (encoding === "latin-1") return (block) => latinDecoded(block);
  const bigEndian = encoding === "utf-16" && first[0] === 0xfe && first[1] === 0xff;
  const label = encoding === "utf-16" ? (bigEndian ? "utf-16be" : "utf-16le") : encoding;
  const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
  return (block, more) => {
    if (encoding === "windows-1252" && block.some((byte) => NOT_IN_CP1252.has(byte))) {
      throw new RangeError("a byte that the encoding does not have");
    }
    return decoder.decode(block, { stream: more });
  };
}

function latinDecoded(block) {
  const pieces = [];
  for (let start = 0; start < block.length; start += 8192) {
    pieces.push(String.fromCharCode(...block.subarray(start, start + 8192)));
  }
  return pieces.join("");
}
