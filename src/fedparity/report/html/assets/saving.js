// Save the result as the file it came from, byte for byte; print with nothing folded.
const canonical = block.replace(/\\u003c|\\./g, (found) => (found === "\\u003c" ? "<" : found));
const save = document.getElementById("save");
save.href = URL.createObjectURL(new Blob([canonical, "\n"], { type: "application/json" }));
save.parentElement.hidden = false;

let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const folded of opened) folded.open = true;
});
window.addEventListener("afterprint", () => {
  for (const folded of opened) folded.open = false;
});
