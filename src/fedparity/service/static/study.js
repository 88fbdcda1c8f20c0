// Keeps the page of a study up to date: loads it again when something happened, and asks what would be known now.
const figures = document.getElementById("figures");
const study = `/studies/${figures.dataset.study}`;

async function provisional() {
  const reply = await fetch(`${study}/provisional`);
  if (!reply.ok) return;
  const found = await reply.json();
  const words = document.getElementById("provisional");
  words.textContent = found.words;
  if (found.again) { // somebody else's question is being answered
    setTimeout(provisional, 1500);
    return;
  }
  document.getElementById("people").textContent = found.n === undefined ? "none yet" : found.n.toLocaleString("en");
  document.getElementById("gap").textContent = found.gap ?? "none yet";
  if (found.answered && found.answered !== found.all) words.textContent += ` For all, also those who are missing: ${found.all}.`;
}

let shown = null;
const news = new EventSource(`${study}/news`);
news.onmessage = ({ data }) => {
  if (shown !== null && data !== shown && !document.querySelector(".secret")) location.reload();
  shown = data;
};
addEventListener("pagehide", () => news.close());
provisional();
