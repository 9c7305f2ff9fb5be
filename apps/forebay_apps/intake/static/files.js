// Files that are picked or dropped, what they are called, and ids for them.

/** Returns what an input holds, and empties it: [{file, name}], named with its folder. */
export function fromInput(input) {
  const files = [...input.files].map((file) => ({
    file,
    name: file.webkitRelativePath || file.name,
  }));
  input.value = "";
  return files;
}

/** Takes what is dropped anywhere on the page; `zone` is marked while something is over it. */
export function acceptDrops(zone, take) {
  let depth = 0;
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");

  document.addEventListener("dragenter", (event) => {
    if (!carriesFiles(event)) return;
    depth += 1;
    zone.dataset.over = "";
  });

  document.addEventListener("dragleave", (event) => {
    if (!carriesFiles(event)) return;
    depth -= 1;
    if (depth <= 0) delete zone.dataset.over;
  });

  document.addEventListener("dragover", (event) => {
    if (carriesFiles(event)) event.preventDefault();
  });

  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    depth = 0;
    delete zone.dataset.over;
    fromDrop(event.dataTransfer.items).then(take);
  });
}

/** Returns what was dropped, folders with all below them. */
async function fromDrop(items) {
  const found = [];
  const dropped = [...items].filter(({ kind }) => kind === "file");
  // Both are asked for at once: after the first wait the browser has forgotten what was dropped.
  const each = dropped.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  for (const { entry, file } of each) {
    if (entry) await walk(entry, found);
    else if (file) found.push({ file, name: file.name });
  }
  return found;
}

async function walk(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    found.push({ file, name: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const each of some) await walk(each, found);
  }
}

/** Parts files of a folder that are no PDF by their name: nobody has picked them one by one. */
export function parted(files) {
  const isLeft = ({ name }) => name.includes("/") && !/\.pdf$/i.test(name);
  return { taken: files.filter((each) => !isLeft(each)), left: files.filter(isLeft) };
}

export function inBytes(size) {
  const units = ["B", "kB", "MB", "GB"];
  let amount = size;
  while (amount >= 999.5 && units.length > 1) {
    amount /= 1000;
    units.shift();
  }
  return `${amount >= 9.95 || units[0] === "B" ? Math.round(amount) : amount.toFixed(1)} ${units[0]}`;
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

/** Returns a name as it is shown, or `otherwise` where nothing of it can be seen: as visible.py. */
export function visible(name, otherwise) {
  const shown = wellFormed(name)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .trim();
  return /[^\p{Cc}\p{Cf}\p{Z}\p{Mn}\p{Me}\u115f\u1160\u2800\u3164\uffa0]/u.test(shown) ? shown : otherwise;
}

/** Half a surrogate pair in a name is no text that can be sent. */
export function wellFormed(name) {
  return name.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}
