/* The timeline: every span is in the page, and what a zoom level can show is drawn. */

const config = { displayModeBar: false, displaylogo: false, responsive: true, doubleClick: false };

const SIDE_BAND = 30;
const LABEL = 16;
const BAR = { host: 24, stream: 24, gap: 24, range: 15 };
const SPACE = 7;
const AXIS = 34;
const PAD = 10; // left and right of the plot
const COLUMN = 2; // spans narrower than this many pixels share columns this wide
const FLOOR = 0.14; // no column is lower than this share of its lane, or it would vanish
const TEXT_ROOM = 44; // a span at least this wide carries its name

class TimelineView {
  constructor(root, payload) {
    this.root = root;
    this.holder = root.querySelector(".timeline-plot");
    this.tip = root.querySelector(".timeline-tip");
    this.status = root.querySelector(".timeline-status");
    this.names = payload.names;
    this.full = [0, Math.max(payload.span_ns, 1)];
    this.lanes = [];
    this.bands = [];
    let y = 0;
    for (const side of payload.sides) {
      this.bands.push({ y, label: side.label, caption: side.caption, sign: side.sign, window: side.window_ns });
      y += SIDE_BAND;
      for (const lane of side.lanes) {
        const height = BAR[lane.role] || 20;
        const start = decode(lane.start);
        const duration = decode(lane.duration);
        for (let i = 0; i < start.length; i++) {
          this.full[0] = Math.min(this.full[0], start[i]);
          this.full[1] = Math.max(this.full[1], start[i] + duration[i]);
        }
        this.lanes.push({
          side: side.label, title: lane.title, role: lane.role, kinds: lane.kinds,
          colours: lane.colours, inks: lane.inks, start, duration, name: decode(lane.name),
          kind: decode(lane.kind), label: y, top: y + LABEL, height,
        });
        y += LABEL + height + SPACE;
      }
      y += 6;
    }
    this.height = y;
    this.view = this.full.slice();
    this.selected = null;
    this.laneIndex = Math.max(0, this.lanes.findIndex((lane) => lane.role === "stream"));
    this.draw();
    this.listen();
  }

  get width() {
    return Math.max(50, this.holder.clientWidth - 2 * PAD);
  }

  /** Index of the first span of a lane that can reach to or past an instant. */
  firstAt(lane, t) {
    let low = 0;
    let high = lane.start.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.start[middle] <= t) low = middle + 1;
      else high = middle;
    }
    let i = Math.max(0, low - 1);
    // Spans of a lane hardly overlap: a few steps back find one that started earlier.
    for (let k = 0; k < 8 && i > 0 && lane.start[i - 1] + lane.duration[i - 1] > t; k++) i--;
    return i;
  }

  /** Rectangles of one lane for the current view, one polygon list for each kind. */
  laneShapes(lane) {
    const [from, to] = this.view;
    const reach = to - from;
    const perPixel = reach / this.width;
    const left = from - reach * 0.5; // so that dragging shows something at once
    const right = to + reach * 0.5;
    const shapes = lane.kinds.map(() => ({ x: [], y: [] }));
    const texts = { x: [], y: [], text: [], colour: [] };
    const bottom = lane.top + lane.height;
    const box = (kind, x0, x1, y0, y1) => {
      shapes[kind].x.push(x0, x1, x1, x0, x0, null);
      shapes[kind].y.push(y0, y0, y1, y1, y0, null);
    };
    const columnNs = COLUMN * perPixel;
    const origin = Math.floor(left / columnNs);
    const columns = Math.ceil((right - left) / columnNs) + 2;
    let covered = null;
    let last = -1;
    for (let i = this.firstAt(lane, left); i < lane.start.length; i++) {
      const start = lane.start[i];
      if (start > right) break;
      const end = start + lane.duration[i];
      if (end < left) continue;
      const pixels = (end - start) / perPixel;
      const kind = lane.kind[i];
      if (pixels >= COLUMN) {
        // A hair of ground between neighbours, where there is room for it.
        const hair = pixels > 5 ? perPixel * 0.8 : 0;
        box(kind, Math.max(start, left), Math.min(end, right) - hair, lane.top, bottom);
        const x0 = Math.max(start, from);
        const x1 = Math.min(end, to);
        const room = (x1 - x0) / perPixel;
        if (room > TEXT_ROOM && lane.role !== "gap") {
          const fit = Math.floor((room - 8) / 6.2);
          texts.x.push((x0 + x1) / 2);
          texts.y.push(lane.top + lane.height / 2);
          texts.colour.push(lane.inks[kind]);
          texts.text.push(plain(shorten(label(this.names[lane.name[i]]), fit)));
        }
        continue;
      }
      covered = covered || new Float64Array(columns * lane.kinds.length);
      let column = Math.floor(start / columnNs) - origin;
      let at = start;
      while (at < end || at === start) {
        const edge = Math.min(end, (column + origin + 1) * columnNs);
        if (column >= 0 && column < columns) {
          covered[column * lane.kinds.length + kind] += Math.max(edge - at, columnNs * 1e-6);
          last = Math.max(last, column);
        }
        if (edge >= end) break;
        at = edge;
        column++;
      }
    }
    for (let column = 0; column <= last; column++) {
      const base = column * lane.kinds.length;
      let total = 0;
      for (let k = 0; k < lane.kinds.length; k++) total += covered[base + k];
      if (total === 0) continue;
      const share = Math.min(1, Math.max(total / columnNs, FLOOR));
      const x0 = (column + origin) * columnNs;
      let y = bottom;
      for (let k = 0; k < lane.kinds.length; k++) {
        const part = (covered[base + k] / total) * share * lane.height;
        if (part === 0) continue;
        box(k, x0, x0 + columnNs, y - part, y);
        y -= part;
      }
    }
    return { shapes, texts };
  }

  traces() {
    const out = [];
    for (const lane of this.lanes) {
      const { shapes, texts } = this.laneShapes(lane);
      lane.kinds.forEach((kind, k) => {
        out.push({
          type: "scatter", mode: "none", fill: "toself", fillcolor: lane.colours[k],
          line: { simplify: false, width: 0 }, hoverinfo: "skip", name: lane.title + ": " + kind,
          x: shapes[k].x, y: shapes[k].y, showlegend: false,
        });
      });
      out.push({
        type: "scatter", mode: "text", x: texts.x, y: texts.y, text: texts.text,
        textfont: { size: 10.5, color: texts.colour }, hoverinfo: "skip", cliponaxis: true,
        showlegend: false, name: lane.title + ": names",
      });
    }
    return out;
  }

  ticks() {
    const [from, to] = this.view;
    const wanted = Math.max(2, Math.floor(this.width / (narrow() ? 72 : 110)));
    const raw = (to - from) / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw));
    const [unit, name] = to >= 2e6 && step >= 1e4 ? [1e6, "ms"] : step >= 10 ? [1e3, "µs"] : [1, "ns"];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
    const values = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) values.push(t);
    return { values, texts: values.map((t) => (t === 0 ? "0" : (t / unit).toFixed(digits) + " " + name)) };
  }

  layout() {
    const ticks = this.ticks();
    const annotations = [];
    const shapes = [];
    const place = { xref: "paper", yref: "y", x: 0, xanchor: "left", yanchor: "top", showarrow: false, align: "left" };
    for (const band of this.bands) {
      const caption = narrow() ? "" : "  " + plain(shorten(band.caption, 60));
      annotations.push({
        ...place, y: band.y + 4, font: { size: 14 },
        text: "<b>" + plain(shorten(band.label, narrow() ? 26 : 60)) + "</b>" + caption + "  " + band.sign + words(band.window),
      });
      shapes.push({
        type: "line", xref: "x", yref: "y", x0: band.window, x1: band.window, y0: band.y + SIDE_BAND,
        y1: this.sideEnd(band), line: { width: 1, dash: "dot", color: "#888" }, layer: "above",
      });
    }
    for (const lane of this.lanes) {
      annotations.push({ ...place, y: lane.label, font: { size: 11 }, text: plain(shorten(lane.title, narrow() ? 48 : 120)) });
      shapes.push({
        type: "rect", xref: "paper", yref: "y", x0: 0, x1: 1, y0: lane.top, y1: lane.top + lane.height,
        line: { width: 0 }, fillcolor: "#88888822", layer: "below",
      });
    }
    if (this.selected) {
      const { lane, i } = this.selected;
      const minimum = ((this.view[1] - this.view[0]) / this.width) * 2;
      shapes.push({
        type: "rect", xref: "x", yref: "y", x0: lane.start[i],
        x1: lane.start[i] + Math.max(lane.duration[i], minimum),
        y0: lane.top - 2, y1: lane.top + lane.height + 2, name: "selection",
        line: { width: 2, color: "#d62728" }, layer: "above",
      });
    }
    return {
      width: this.holder.clientWidth, height: this.height + AXIS, margin: { l: PAD, r: PAD, t: 0, b: AXIS }, hovermode: false,
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom", showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", annotations, shapes,
      font: { family: "system-ui, sans-serif", size: 12 },
      xaxis: {
        range: this.view, tickvals: ticks.values, ticktext: ticks.texts, zeroline: false,
        gridcolor: "#88888844", ticks: "outside", fixedrange: false,
      },
      yaxis: { range: [this.height, 0], visible: false, fixedrange: true },
      uirevision: "keep",
    };
  }

  sideEnd(band) {
    const next = this.bands[this.bands.indexOf(band) + 1];
    return next ? next.y - 6 : this.height;
  }

  draw() {
    const layout = this.layout();
    layout.uirevision = String(this.view); // the view is ours, not the figure's to keep
    Plotly.react(this.holder, this.traces(), layout, { ...config, responsive: false });
    this.root.dataset.view = this.view.join(" ");
  }

  show(from, to) {
    const most = this.full[1] - this.full[0];
    let reach = Math.min(Math.max(to - from, 20), most);
    from = Math.min(Math.max(from, this.full[0]), this.full[1] - reach);
    this.view = [from, from + reach];
    this.hideTip();
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

  /** The span at a place on the screen, the nearest within a few pixels; or null. */
  hit(event) {
    const frame = this.holder.getBoundingClientRect();
    const y = event.clientY - frame.top;
    const lane = this.lanes.find((l) => y >= l.label && y < l.top + l.height + SPACE / 2);
    if (!lane) return null;
    const perPixel = (this.view[1] - this.view[0]) / this.width;
    const t = this.view[0] + (event.clientX - frame.left - PAD) * perPixel;
    let best = null;
    let distance = 5 * perPixel;
    for (let i = this.firstAt(lane, t); i < lane.start.length && lane.start[i] <= t + distance; i++) {
      const away = Math.max(lane.start[i] - t, t - lane.start[i] - lane.duration[i], 0);
      if (away < distance || (away === 0 && distance === 0)) {
        best = i;
        distance = away;
      }
    }
    return best === null ? null : { lane, i: best };
  }

  describe({ lane, i }) {
    return {
      name: this.names[lane.name[i]],
      facts: [
        words(lane.duration[i]), "from " + words(lane.start[i]),
        lane.kinds[lane.kind[i]] + (lane.role === "gap" ? " gap" : ""), lane.title, lane.side,
      ].join(" · "),
    };
  }

  showTip(event, found) {
    const { name, facts } = this.describe(found);
    this.tip.querySelector("b").textContent = shorten(name, 600);
    this.tip.querySelector("span").textContent = facts;
    this.tip.hidden = false;
    const room = this.tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, window.innerWidth - room.width - 8);
    const below = event.clientY + 18;
    const y = below + room.height > window.innerHeight ? event.clientY - room.height - 12 : below;
    this.tip.style.left = Math.max(8, x) + "px";
    this.tip.style.top = Math.max(8, y) + "px";
  }

  hideTip() {
    this.tip.hidden = true;
  }

  select(found, follow) {
    this.selected = found;
    this.root.querySelector("[data-act=selected]").disabled = !found;
    if (found) {
      const { name, facts } = this.describe(found);
      this.status.replaceChildren(el("b", name), document.createTextNode(" " + facts));
      this.laneIndex = this.lanes.indexOf(found.lane);
      const start = found.lane.start[found.i];
      const [from, to] = this.view;
      if (follow && (start < from || start > to)) {
        this.show(start - (to - from) / 2, start + (to - from) / 2);
        return;
      }
    }
    this.draw();
  }

  zoomToSelected() {
    if (!this.selected) return;
    const { lane, i } = this.selected;
    const room = Math.max(lane.duration[i], 200);
    this.show(lane.start[i] - room, lane.start[i] + lane.duration[i] + room);
  }

  step(by) {
    const lane = this.lanes[this.laneIndex];
    const same = this.selected && this.selected.lane === lane;
    const i = same ? this.selected.i + by : this.firstAt(lane, this.view[0]);
    if (i >= 0 && i < lane.start.length) this.select({ lane, i }, true);
  }

  changeLane(by) {
    const next = this.laneIndex + by;
    if (next < 0 || next >= this.lanes.length) return;
    const at = this.selected ? this.selected.lane.start[this.selected.i] : this.view[0];
    this.laneIndex = next;
    const lane = this.lanes[next];
    this.select({ lane, i: this.firstAt(lane, at) }, true);
  }

  find(text, backwards) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    const matches = new Set();
    this.names.forEach((name, n) => name.toLowerCase().includes(wanted) && matches.add(n));
    const hits = [];
    this.lanes.forEach((lane) => {
      if (lane.role === "gap") return;
      for (let i = 0; i < lane.start.length; i++) if (matches.has(lane.name[i])) hits.push({ lane, i });
    });
    if (!hits.length) {
      this.status.textContent = "No span has “" + text + "” in its name.";
      return;
    }
    const now = this.selected
      ? hits.findIndex((h) => h.lane === this.selected.lane && h.i === this.selected.i) : -1;
    const next = hits[(now + (backwards ? -1 : 1) + hits.length) % hits.length];
    this.select(next, true);
    this.status.append(" (" + hits.length + " spans match)");
  }

  listen() {
    const acts = {
      in: () => this.zoom(0.4), out: () => this.zoom(2.5), left: () => this.pan(-0.6),
      right: () => this.pan(0.6), all: () => this.show(...this.full), selected: () => this.zoomToSelected(),
    };
    for (const button of this.root.querySelectorAll("button[data-act]")) {
      button.addEventListener("click", () => acts[button.dataset.act]());
    }
    const search = this.root.querySelector("input[type=search]");
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.find(search.value, event.shiftKey);
      }
    });
    this.holder.on("plotly_relayout", (change) => {
      const from = change["xaxis.range[0]"];
      if (from !== undefined) this.show(from, change["xaxis.range[1]"]);
    });
    this.holder.on("plotly_doubleclick", () => this.show(...this.full));
    this.holder.addEventListener("mousemove", (event) => {
      const found = event.buttons ? null : this.hit(event);
      if (found) this.showTip(event, found);
      else this.hideTip();
    });
    this.holder.addEventListener("mouseleave", () => this.hideTip());
    this.holder.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const frame = this.holder.getBoundingClientRect();
      const share = (event.clientX - frame.left - PAD) / this.width;
      const centre = this.view[0] + share * (this.view[1] - this.view[0]);
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, centre);
    }, { passive: false });
    let pressed = null;
    this.holder.addEventListener("pointerdown", (event) => { pressed = event; }, true);
    window.addEventListener("pointerup", (event) => {
      if (pressed && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) < 4) {
        const found = this.hit(event);
        if (found) this.select(found, false);
      }
      pressed = null;
    }, true);
    const keys = {
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), ArrowDown: () => this.changeLane(1),
      ArrowUp: () => this.changeLane(-1), "+": acts.in, "=": acts.in, "-": acts.out, Home: acts.all,
      Enter: acts.selected, Escape: () => { this.hideTip(); this.select(null, false); },
    };
    this.holder.addEventListener("keydown", (event) => {
      const act = event.altKey || event.ctrlKey || event.metaKey ? null : keys[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    });
    let drawnWidth = this.holder.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(this.holder.clientWidth - drawnWidth) < 2) return;
      drawnWidth = this.holder.clientWidth;
      this.draw();
    }).observe(this.holder);
  }
}
