// Runs the bars of leases down, and what runs up, by the server's clock, which each answer tells.
let ahead = -Infinity; // of performance.now(); the answer that was under way for the least time is right

function span(seconds) {
  const whole = Math.abs(Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours ? `${hours} h ${minutes} m` : `${minutes} m ${whole % 60} s`;
}

function tick() {
  const now = performance.now() / 1000;
  for (const told of document.querySelectorAll("[data-now]")) {
    ahead = Math.max(ahead, Number(told.dataset.now) - now);
  }
  for (const lease of document.querySelectorAll("[data-lease-until]")) {
    const left = Number(lease.dataset.leaseUntil) - ahead - now;
    const share = Math.max(0, Math.min(1, left / Number(lease.dataset.leaseLength)));
    lease.querySelector(".fill").setAttribute("width", String(100 * share));
    lease.querySelector("[data-lease-words]").textContent =
      left > 0 ? `${span(left)} left` : `ran out ${span(left)} ago`;
    lease.classList.toggle("is-short", share < 0.25);
  }
  for (const running of document.querySelectorAll("[data-running-since]")) {
    running.textContent = span(ahead + now - Number(running.dataset.runningSince));
  }
}

tick();
setInterval(tick, 1000);
document.addEventListener("forebay:swapped", tick);
