(() => {
  const button = document.getElementById("pl-show-code");
  const blocks = [...document.querySelectorAll("details.pl-code")];
  if (!button || !blocks.length) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    blocks.forEach((block) => { block.open = open; });
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Hide all code" : "Show all code";
  });
})();
