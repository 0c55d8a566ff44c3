/* The timeline: every span is in the page, and what a zoom level can show is drawn. */

const CONFIG = { displayModeBar: false, displaylogo: false, responsive: false, doubleClick: false };

const SIDE_BAND = 30;
const LABEL = 16;
const SPACE = 7;
const AXIS = 34; // of all sides
const OWN_AXIS = 22; // of one
const PAD = 10; // left and right of the plot

class TimelineView {
  constructor(root, payload) {
    this.root = root;
    this.holder = root.querySelector(".timeline-plot");
    this.status = root.querySelector(".timeline-status");
    this.names = payload.names;
    this.short = payload.short;
    this.span = Math.max(payload.span_ns, 1);
    this.own = false; // whether each side fills the width
    this.unfolded = false;
    this.sides = payload.sides.map((side) => {
      const read = { ...side, scale: 1, index: null };
      read.lanes = side.lanes.map((lane) => readLane(lane, read));
      return read;
    });
    this.selected = null;
    this.outlines = new Outlines(this.holder);
    this.place();
    this.view = this.full.slice();
    this.laneIndex = Math.max(0, this.lanes.findIndex((lane) => lane.role === "stream"));
    this.draw();
    listen(this);
  }

  /** Puts sides and lanes below each other, and finds how far time reaches on the axis. */
  place() {
    this.lanes = [];
    this.full = [0, this.span];
    let y = 0;
    for (const side of this.sides) {
      side.scale = this.own && side.window_ns > 0 ? this.span / side.window_ns : 1;
      side.y = y;
      y += SIDE_BAND;
      for (const lane of side.lanes) {
        lane.drawn = this.unfolded || !lane.folded;
        if (!lane.drawn) continue;
        lane.label = y;
        lane.top = y + LABEL;
        y += LABEL + lane.height + SPACE;
        this.lanes.push(lane);
        for (let i = 0; i < lane.start.length; i++) {
          this.full[0] = Math.min(this.full[0], lane.start[i] * side.scale);
          this.full[1] = Math.max(this.full[1], (lane.start[i] + lane.duration[i]) * side.scale);
        }
      }
      side.end = y;
      y += this.own ? OWN_AXIS : 6;
    }
    this.height = y;
  }

  get width() {
    return Math.max(50, this.holder.clientWidth - 2 * PAD);
  }

  /** What of a side's own time the view shows. */
  seen(side) {
    return this.view.map((t) => t / side.scale);
  }

  /** What is drawn: one shape for each colour of a side, and one list of names. */
  traces() {
    const shapes = new Map();
    const names = { x: [], y: [], text: [], colour: [] };
    for (const lane of this.lanes) {
      const scale = lane.side.scale;
      const [from, to] = this.seen(lane.side);
      const found = laneShapes(lane, from, to, this.width, this.short, (t) => t * scale);
      found.shapes.forEach(({ x, y }, kind) => {
        if (!x.length) return;
        const key = lane.side.label + lane.colours[kind];
        const shape = shapes.get(key) || shapes.set(key, { colour: lane.colours[kind], x: [], y: [] }).get(key);
        for (let i = 0; i < x.length; i++) {
          shape.x.push(x[i]);
          shape.y.push(y[i]);
        }
      });
      for (const key of Object.keys(names)) names[key].push(...found.texts[key]);
    }
    const out = [...shapes.values()].map(({ colour, x, y }) => ({
      type: "scatter", mode: "none", fill: "toself", fillcolor: colour, x, y,
      line: { simplify: false, width: 0 }, hoverinfo: "skip", showlegend: false,
    }));
    out.push({
      type: "scatter", mode: "text", x: names.x, y: names.y, text: names.text, cliponaxis: true,
      textfont: { size: 10.5, color: names.colour }, hoverinfo: "skip", showlegend: false,
    });
    return out;
  }

  layout() {
    const wanted = Math.max(2, Math.floor(this.width / (narrow() ? 72 : 110)));
    const ticks = this.own ? { values: [], texts: [] } : axisTicks(...this.view, wanted);
    const annotations = [];
    const shapes = [];
    const place = { xref: "paper", yref: "y", x: 0, xanchor: "left", yanchor: "top", showarrow: false, align: "left" };
    for (const side of this.sides) {
      const caption = narrow() ? "" : "  " + plain(shorten(side.caption, 60));
      annotations.push({
        ...place, x: 0, xshift: 16, y: side.y + 4, font: { size: 14 },
        text: "<b>" + plain(shorten(side.label, narrow() ? 26 : 60)) + "</b>" + caption + "  " + side.sign + words(side.window_ns),
      });
      shapes.push({
        type: "rect", xref: "paper", yref: "y", xsizemode: "pixel", xanchor: 0, x0: 0, x1: 11,
        y0: side.y + 9, y1: side.y + 20, line: { width: 0 }, fillcolor: side.colour,
      });
      const end = side.window_ns * side.scale;
      shapes.push({
        type: "line", xref: "x", yref: "y", x0: end, x1: end, y0: side.y + SIDE_BAND, y1: side.end,
        line: { width: 1, dash: "dot", color: "#888" }, layer: "above",
      });
      if (!this.own) continue;
      const own = axisTicks(...this.seen(side), wanted);
      own.values.forEach((t, i) => annotations.push({
        ...place, xref: "x", x: t * side.scale, xanchor: "center", y: side.end - 4, font: { size: 11 }, text: own.texts[i],
      }));
    }
    for (const lane of this.lanes) {
      annotations.push({ ...place, y: lane.label, font: { size: 11 }, text: plain(shorten(lane.title, narrow() ? 48 : 120)) });
      shapes.push({
        type: "rect", xref: "paper", yref: "y", x0: 0, x1: 1, y0: lane.top, y1: lane.top + lane.height,
        line: { width: 0 }, fillcolor: "#88888822", layer: "below",
      });
    }
    const foot = this.own ? 4 : AXIS;
    return {
      width: this.holder.clientWidth, height: this.height + foot, margin: { l: PAD, r: PAD, t: 0, b: foot }, hovermode: false,
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom", showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", annotations, shapes,
      font: { family: "system-ui, sans-serif", size: 12 },
      xaxis: {
        range: this.view, tickvals: ticks.values, ticktext: ticks.texts, zeroline: false,
        gridcolor: "#88888844", ticks: this.own ? "" : "outside", fixedrange: false,
      },
      yaxis: { range: [this.height, 0], visible: false, fixedrange: true },
    };
  }

  draw() {
    const layout = this.layout();
    layout.uirevision = String(this.view); // the view is ours, not the figure's to keep
    Plotly.react(this.holder, this.traces(), layout, CONFIG);
    this.root.dataset.view = this.view.join(" ");
    this.outline(null);
  }

  /** Outlines what is selected, and what is pointed at. */
  outline(pointed) {
    const perPixel = (this.view[1] - this.view[0]) / this.width;
    const x = (lane, t) => Math.min(Math.max((t * lane.side.scale - this.view[0]) / perPixel, -4), this.width + 4) + PAD;
    this.outlines.clear();
    if (this.selected) this.outlines.add(this.selected, "selected", x);
    if (pointed) this.outlines.add(pointed, "pointed", x);
  }

  show(from, to) {
    const most = this.full[1] - this.full[0];
    const reach = Math.min(Math.max(to - from, 20), most);
    from = Math.min(Math.max(from, this.full[0]), this.full[1] - reach);
    this.view = [from, from + reach];
    hideTip();
    this.draw();
  }

  zoom(factor, centre) {
    const [from, to] = this.view;
    const at = centre === undefined ? (from + to) / 2 : centre;
    this.show(at - (at - from) * factor, at + (to - at) * factor);
  }

  pan(share) {
    const [from, to] = this.view;
    this.show(from + (to - from) * share, to + (to - from) * share);
  }

  /** Places everything anew, after what is folded or whose axis it is has changed. */
  arrange() {
    this.place();
    this.laneIndex = Math.max(0, this.lanes.indexOf(this.selected?.lane));
    this.show(...this.full);
  }

  describe({ lane, i }) {
    const facts = [
      words(lane.duration[i]), "from " + words(lane.start[i]),
      lane.said[lane.kind[i]], lane.title, lane.side.label,
    ];
    const other = lane.role === "gap" ? null : otherEnd({ lane, i });
    if (other) {
      const name = this.short[other.lane.name[other.i]];
      const between = words(Math.abs(other.lane.start[other.i] - lane.start[i]));
      if (lane.role === "host") {
        facts.push(other.count > 1 ? "submitted " + other.count + " operations, the first " + between + " later"
          : "submitted " + name + ", which began " + between + " later");
      } else facts.push("submitted by " + name + ", " + between + " earlier");
    }
    return { name: this.names[lane.name[i]], short: this.short[lane.name[i]], facts: facts.join(" · ") };
  }

  select(found, follow) {
    this.selected = found;
    this.root.querySelector("[data-act=selected]").disabled = !found;
    this.root.querySelector("[data-act=linked]").disabled = !found || !otherEnd(found);
    if (found) {
      const { name, short, facts } = this.describe(found);
      this.status.replaceChildren(el("b", short), document.createTextNode(" " + facts));
      if (name !== short) this.status.append(el("span", name));
      if (!found.lane.drawn) {
        this.unfold(true);
        return;
      }
      this.laneIndex = this.lanes.indexOf(found.lane);
      const start = found.lane.start[found.i] * found.lane.side.scale;
      const [from, to] = this.view;
      if (follow && (start < from || start > to)) {
        this.show(start - (to - from) / 2, start + (to - from) / 2);
        return;
      }
    }
    this.outline(null);
  }

  unfold(unfolded) {
    this.unfolded = unfolded;
    this.root.querySelector("[data-act=lanes]").setAttribute("aria-pressed", String(unfolded));
    this.arrange();
  }
}
