/* Draws the figures of a report. All data stands in the page; nothing is fetched. */

const report = JSON.parse(document.getElementById("report-data").textContent);

/** Names above bars take the room there is. */
const fitLabels = (holder, figure) => {
  const room = Math.floor((holder.clientWidth - 20) / 6.6);
  figure.layout.annotations?.forEach((annotation, i) => {
    if (i < figure.labels.length) annotation.text = plain(shorten(label(figure.labels[i]), room));
  });
};

const charts = [];
for (const figure of report.figures) {
  const holder = document.getElementById(figure.id);
  fitLabels(holder, figure);
  Plotly.newPlot(holder, figure.data, figure.layout, config);
  charts.push({ holder, figure });
}

const timelines = report.timelines
  .filter((payload) => payload.sides.length)
  .map((payload) => new TimelineView(document.getElementById(payload.id), payload));

/* Paper has its own width, and no one can unfold anything on it. */
const resize = (width) => {
  for (const { holder, figure } of charts) {
    holder.style.width = width;
    fitLabels(holder, figure);
    Plotly.react(holder, figure.data, { ...figure.layout, width: holder.clientWidth }, config);
  }
  for (const timeline of timelines) {
    timeline.holder.style.width = width;
    timeline.draw();
  }
};
window.addEventListener("beforeprint", () => resize("680px"));
window.addEventListener("afterprint", () => resize(""));
document.documentElement.dataset.ready = "yes";
