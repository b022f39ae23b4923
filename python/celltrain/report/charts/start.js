// Draws the charts of a report into its <figure class="chart"> elements. No library, no request.
const kinds = { strips: Strips, points: Points, distribution: Distribution };
for (const figure of document.querySelectorAll("figure.chart")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  figure.chart = new kinds[data.kind](figure, data);
  figure.appendChild(figure.querySelector("figcaption"));
}

// Copies the text behind a button; where that is not allowed the text is selected, to be copied by hand.
for (const button of document.querySelectorAll("button.copy")) {
  button.onclick = async () => {
    const code = button.nextElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
    }
  };
}

// Paper cannot be opened: what is folded is printed too, and folded again afterwards.
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const details of opened) details.open = true;
});
window.addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
// A link into a folded part opens it.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  if (target) target.scrollIntoView();
};
window.addEventListener("hashchange", reveal);
reveal();
