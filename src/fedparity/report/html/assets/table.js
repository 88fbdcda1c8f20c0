// The table of silos: sorted by any column, searched by name, folded where it is long.
const table = document.getElementById("silo-table");
const body = table.tBodies[0];
const rows = [...body.rows];
const order = new Intl.Collator("en", { numeric: true });

const keyOf = (row, path) => {
  if (row.dataset.i === undefined) return null; // a silo that sent nothing
  const value = valueAt(path.replace("*", row.dataset.i));
  return Array.isArray(value) ? value[0] : value;
};

const compare = (first, second) =>
  typeof first === "string" ? order.compare(first, second) : first - second;

const sortBy = (head, ascending) => {
  const keyed = rows.map((row) => [keyOf(row, head.dataset.path), row]);
  keyed.sort(([first], [second]) => {
    if (first === null || second === null) return (first === null) - (second === null);
    return ascending ? compare(first, second) : compare(second, first);
  });
  body.append(...keyed.map(([, row]) => row));
};

for (const button of table.tHead.querySelectorAll("button")) {
  const head = button.closest("th");
  button.disabled = false;
  button.addEventListener("click", () => {
    const before = head.getAttribute("aria-sort");
    // The largest numbers first, names from A on; a second time the other way round.
    const ascending = before ? before === "descending" : head.dataset.as === "text";
    for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    sortBy(head, ascending);
  });
}

const find = document.getElementById("find");
const found = document.getElementById("found");
const unfold = document.getElementById("unfold");

const search = () => {
  const words = find.value.trim().toLowerCase();
  let count = 0;
  for (const row of rows) {
    const fits = row.cells[0].textContent.toLowerCase().includes(words);
    row.classList.toggle("out", !fits);
    count += fits;
  }
  table.classList.toggle("filtered", words !== "");
  found.textContent = words ? `${digits(count)} of ${digits(rows.length)} silos` : "";
};
find.addEventListener("input", search);

if (unfold) {
  const say = (open) => {
    unfold.setAttribute("aria-expanded", open);
    unfold.textContent = open ? "Show fewer" : `Show all ${digits(rows.length)}`;
  };
  unfold.addEventListener("click", () => say(!table.classList.toggle("folding")));
  say(false);
}
document.querySelector(".tools").hidden = false;
search();
