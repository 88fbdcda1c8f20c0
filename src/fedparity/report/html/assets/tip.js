// One small label that follows the pointer or the keys.
const tip = document.getElementById("tip");

const hideTip = () => {
  tip.hidden = true;
};

const showTip = (text, x, y) => {
  if (!text) return hideTip();
  tip.textContent = text;
  tip.hidden = false;
  const width = document.documentElement.clientWidth;
  const left = Math.min(x + 14, width - tip.offsetWidth - 8);
  const above = y - tip.offsetHeight - 12;
  tip.style.left = `${Math.max(8, left) + window.scrollX}px`;
  tip.style.top = `${(above < 4 ? y + 18 : above) + window.scrollY}px`;
};

// Numbers in text and tables: more digits while the pointer is on them.
document.addEventListener("pointerover", (event) => {
  if (event.target.closest(".plot svg")) return;
  const named = event.target.closest("span[data-path]");
  const cell = event.target.closest("td");
  const path = named ? named.dataset.path : cell && pathOfCell(cell);
  const value = path ? valueAt(path) : undefined;
  if (typeof value === "number" || Array.isArray(value)) {
    const place = (named || cell).getBoundingClientRect();
    showTip(describe(path), place.left, place.top);
  } else hideTip();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
