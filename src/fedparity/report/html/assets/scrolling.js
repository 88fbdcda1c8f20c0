// A table that is wider than its place says so.
const watch = new ResizeObserver((entries) => {
  for (const { target } of entries) target.classList.toggle("more", target.scrollWidth > target.clientWidth + 1);
});
for (const box of document.querySelectorAll(".scroll")) watch.observe(box);
