// Fields and their marks on the page light up together; a page that cannot be shown says why.

for (const each of document.querySelectorAll("[data-mark]")) {
  const both = document.querySelectorAll(`[data-mark="${each.dataset.mark}"]`);
  const light = (isLit) => both.forEach((one) => one.toggleAttribute("data-lit", isLit));
  each.addEventListener("pointerenter", () => light(true));
  each.addEventListener("pointerleave", () => light(false));
  each.addEventListener("focusin", () => light(true));
  each.addEventListener("focusout", () => light(false));
}

const picture = document.querySelector("[data-picture]");

async function explain() {
  const answer = await fetch(picture.src, { headers: { Accept: "application/json" } });
  const said = await answer.json().catch(() => ({}));
  const problem = document.querySelector("[data-picture-problem]");
  problem.textContent = said.error ?? "This page cannot be shown now. Reload to try again.";
  problem.hidden = false;
  picture.closest(".paper").hidden = true;
}

if (picture) {
  picture.addEventListener("error", explain);
  if (picture.complete && !picture.naturalWidth) explain();
}

document.addEventListener("forebay:swapped", () => {
  if (document.querySelector('[data-ended="yes"]')) location.reload();
});
