// Picks tasks of a list: all of the page at once, a range with Shift, and says how many are picked.
let last = null;

function boxes(form) {
  return [...form.elements].filter((box) => box.name === "task" && box.type === "checkbox");
}

function tell(form) {
  const all = boxes(form);
  const picked = all.filter((box) => box.checked).length;
  const every = form.querySelector("[data-pick-all]");
  if (every) {
    every.hidden = false;
    every.checked = picked > 0 && picked === all.length;
    every.indeterminate = picked > 0 && picked < all.length;
  }
  const count = form.querySelector("[data-picked]");
  if (count) count.textContent = picked ? `${picked} picked` : "none picked";
  for (const button of form.querySelectorAll("[data-needs-picked]")) button.disabled = picked === 0;
}

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form?.matches("[data-picking]")) return;
  if (event.target.matches("[data-pick-all]")) {
    for (const box of boxes(form)) box.checked = event.target.checked;
  }
  tell(form);
});

document.addEventListener("click", (event) => {
  const form = event.target.form;
  if (!form?.matches("[data-picking]") || event.target.name !== "task") return;
  if (event.shiftKey && last?.form === form) {
    const all = boxes(form);
    const ends = [all.indexOf(last), all.indexOf(event.target)].sort((a, b) => a - b);
    for (const box of all.slice(ends[0], ends[1] + 1)) box.checked = event.target.checked;
    tell(form);
  }
  last = event.target;
});

function tellAll() {
  for (const form of document.querySelectorAll("[data-picking]")) tell(form);
}

tellAll();
document.addEventListener("forebay:swapped", tellAll);
