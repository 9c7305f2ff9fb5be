// Runs the bars of leases down by the server's clock, which each answer tells.
let ahead = -Infinity; // of performance.now(); the answer that was under way for the least time is right

function words(seconds) {
  const whole = Math.abs(Math.round(seconds));
  const text = whole >= 60 ? `${Math.floor(whole / 60)} m ${whole % 60} s` : `${whole} s`;
  return seconds > 0 ? `${text} left` : `ran out ${text} ago`;
}

function tick() {
  const now = performance.now() / 1000;
  const leases = [...document.querySelectorAll("[data-lease-until]")];
  for (const lease of leases) ahead = Math.max(ahead, Number(lease.dataset.leaseNow) - now);
  for (const lease of leases) {
    const left = Number(lease.dataset.leaseUntil) - ahead - now;
    const share = Math.max(0, Math.min(1, left / Number(lease.dataset.leaseLength)));
    lease.querySelector(".fill").setAttribute("width", String(100 * share));
    lease.querySelector("[data-lease-words]").textContent = words(left);
    lease.classList.toggle("is-short", share < 0.25);
  }
}

tick();
setInterval(tick, 1000);
document.addEventListener("forebay:swapped", tick);
