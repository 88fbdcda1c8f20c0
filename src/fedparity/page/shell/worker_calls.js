// The worker: the only place that reads rows. It can neither navigate nor reach a network, and it hands over
// names of columns, counts, labels of the group columns, and the finished message.

import { readHeader, readLabels, sketchTable } from "../engine/sketch_table.js";

const MOST_LABELS = 200;

const CALLS = {
  header: readHeader,
  labels: async (given) => {
    const found = await readLabels(given);
    return { labels: found.slice(0, MOST_LABELS), more: Math.max(0, found.length - MOST_LABELS) };
  },
  sketch: async (given) => {
    const { document, decisions, accounting } = await sketchTable(given);
    return { document, reasons: decisions.map((decision) => decision.reasons), accounting };
  },
};

/** An error in words; what an unforeseen one says may hold a value, so it is not passed on. */
function errorWords(error) {
  if (error.name === "PageError") return { message: error.message, fix: error.fix, code: error.code };
  return {
    message: `the page could not read this table (${error.name}).`,
    fix: "use the command fedparity sketch, and tell the makers of the page.",
    code: 1,
  };
}

self.onmessage = async ({ data: { id, call, given } }) => {
  const onProgress = (progress) => self.postMessage({ id, progress });
  try {
    self.postMessage({ id, answer: await CALLS[call]({ ...given, onProgress }) });
  } catch (error) {
    self.postMessage({ id, error: errorWords(error) });
  }
};
