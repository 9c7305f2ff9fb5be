// Draws the charts of a page with plotly, in the colours of the page, and anew when a part is swapped.
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(name).trim();
const drawn = new WeakMap();

const UNITS = {
  tasks: { tickformat: ",d" },
  tokens: { tickformat: "~s" },
  usd: { tickprefix: "$", tickformat: "~g" },
  share: { range: [0, 1.02], tickformat: ".1f" },
};

// How times on an axis are written, by how many milliseconds are between two.
const TIMES = [
  { dtickrange: [null, 60_000], value: "%H:%M:%S\n%b %-d, %Y" },
  { dtickrange: [60_000, 86_400_000], value: "%H:%M\n%b %-d, %Y" },
  { dtickrange: [86_400_000, null], value: "%b %-d\n%Y" },
];

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 30, 60, 180, 365].map((count) => count * DAY),
];

// The whole time that the figure is about, with at most so many ticks at whole minutes, hours or days.
function timeAxis(figure, most) {
  const [start, last] = [figure.x[0], figure.x.at(-1)].map(Date.parse);
  const end = last + figure.widths.at(-1);
  const step = STEPS.find((each) => (end - start) / each <= most) ?? STEPS.at(-1);
  return { range: [start, end], tick0: 0, dtick: step, tickformatstops: TIMES };
}

// Long times are drawn in minutes or hours: [seconds in one, suffix].
function scale(figure) {
  if (figure.unit !== "seconds") return [1, ""];
  const most = Math.max(...figure.series.flatMap((series) => series.values.map(Number)));
  return most > 3 * 3600 ? [3600, " h"] : most > 180 ? [60, " m"] : [1, " s"];
}

// The axis of a few tasks has a tick at each number: plotly would write one of 0.5 as 1.
function countAxis(figure) {
  const sums = figure.x.map((_, place) => figure.series.reduce((sum, each) => sum + each.values[place], 0));
  return figure.unit === "tasks" && Math.max(...sums) < 5 ? { tick0: 0, dtick: 1 } : {};
}

function trace(figure, series) {
  const shared = {
    x: figure.x,
    y: series.values.map((value) => (value === null ? null : value / scale(figure)[0])),
    name: series.name,
    text: series.texts,
    customdata: figure.links,
    hovertemplate: figure.kind === "dots" ? "%{text}<extra></extra>" : "%{text}<extra>%{fullData.name}</extra>",
  };
  const ink = colour(series.colour);
  if (figure.kind === "bars" || figure.kind === "histogram") {
    const place = figure.widths && { offset: 0, width: figure.widths.map((width) => 0.86 * width) };
    return { ...shared, ...place, type: "bar", textposition: "none", marker: { color: ink } };
  }
  if (figure.kind === "dots") {
    return { ...shared, type: "scatter", mode: "markers", marker: { color: ink, size: 7, opacity: 0.75 } };
  }
  const line = { color: ink, width: 2, dash: series.is_dashed ? "dot" : "solid" };
  return { ...shared, type: "scatter", mode: "lines+markers", line, marker: { size: 5 }, cliponaxis: false, connectgaps: false };
}

function layout(figure) {
  const ink = colour("--muted");
  const [, suffix] = scale(figure);
  const most = innerWidth < 600 ? 4 : 8;
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line"), automargin: true, tickfont: { size: 11 } };
  return {
    barmode: "stack",
    bargap: 0.15,
    height: 230,
    margin: { l: 44, r: 8, t: 8, b: 28 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink },
    showlegend: figure.series.length > 1,
    legend: { traceorder: "normal", orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 12 } },
    hovermode: figure.kind === "dots" ? "closest" : "x unified",
    hoverlabel: { bgcolor: colour("--surface"), bordercolor: colour("--line"), font: { color: colour("--text") } },
    xaxis: { ...axis, type: figure.kind === "histogram" ? "linear" : "date", showgrid: false, fixedrange: true, tickangle: 0, nticks: most, ...(figure.widths && timeAxis(figure, most)) },
    yaxis: { ...axis, rangemode: "tozero", ticksuffix: suffix, ...UNITS[figure.unit], ...countAxis(figure), fixedrange: true },
  };
}

function draw(source) {
  const plot = document.getElementById(source.dataset.chart);
  const text = source.dataset.figure;
  if (!plot || !window.Plotly || drawn.get(plot) === text) return;
  const figure = JSON.parse(text);
  const isNew = !drawn.has(plot);
  drawn.set(plot, text);
  window.Plotly.react(
    plot,
    figure.series.map((series) => trace(figure, series)),
    layout(figure),
    { displayModeBar: false, responsive: true },
  );
  if (isNew && figure.links) {
    plot.on("plotly_click", (event) => {
      location.href = event.points[0].customdata;
    });
  }
}

function drawAll(where = document) {
  for (const source of where.querySelectorAll("[data-figure]")) draw(source);
}

drawAll();
document.addEventListener("forebay:swapped", (event) => drawAll(event.target));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const source of document.querySelectorAll("[data-figure]")) {
    drawn.set(document.getElementById(source.dataset.chart), "");
  }
  drawAll();
});
