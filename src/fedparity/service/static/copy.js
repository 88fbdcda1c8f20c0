// Puts a button beside every text that is there to be copied.
for (const text of navigator.clipboard ? document.querySelectorAll("pre, .copy code") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet copier";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
  text.after(button);
}
