// The result in the page, and where its numbers stand in it (JSON pointers, RFC 6901).
const block = document.getElementById("result").textContent;
const result = JSON.parse(block);

const stepsOf = (path) =>
  path.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

const valueAt = (path) =>
  stepsOf(path).reduce((found, step) => (found == null ? undefined : found[step]), result);

// A cell of a table is named by its row and its column; "*" is the number of the row.
const pathOfCell = (cell) => {
  const row = cell.parentElement;
  const head = cell.closest("table").tHead;
  const column = head && head.rows[0].cells[cell.cellIndex];
  if (!column || column.dataset.path === undefined) return null;
  if (row.dataset.i !== undefined) return column.dataset.path.replace("*", row.dataset.i);
  return row.dataset.row === undefined ? null : row.dataset.row + column.dataset.path;
};
