/* What belongs together on the timeline: a call, what it submitted, the gap before that. */

/** Spans of a side by the id that joins them: for each id, lanes with their first and last span. */
const indexOf = (side) => {
  const index = new Map();
  for (const lane of side.lanes) {
    for (let i = 0; i < lane.id.length; i++) {
      if (lane.id[i] < 0) continue;
      const found = index.get(lane.id[i]) || index.set(lane.id[i], []).get(lane.id[i]);
      const same = found.find((one) => one.lane === lane);
      if (same) {
        same.last = i;
        same.count++;
      } else found.push({ lane, i, last: i, count: 1 });
    }
  }
  return index;
};

/** What is joined with a span, itself left out: [{lane, i, last, count}]. */
const linkedWith = ({ lane, i }) => {
  lane.side.index = lane.side.index || indexOf(lane.side);
  return (lane.side.index.get(lane.id[i]) || []).filter((one) => one.lane !== lane);
};

/** Where the other end of a launch is: a call's first kernel, a kernel's or a gap's call. */
const otherEnd = (found) => {
  const wanted = found.lane.role === "host" ? "stream" : "host";
  return linkedWith(found).find((one) => one.lane.role === wanted) || null;
};

/** Outlines over the drawn timeline, which need no drawing of it anew. */
class Outlines {
  constructor(holder) {
    this.svg = holder.parentElement.querySelector(".timeline-outlines");
  }

  make(tag) {
    return document.createElementNS(this.svg.namespaceURI, tag);
  }

  clear() {
    this.svg.replaceChildren();
  }

  /** Outlines a span and what is joined with it, in a style's colour; `x` places an instant. */
  add(found, style, x) {
    const own = this.box({ ...found, last: found.i }, style, x);
    for (const one of linkedWith(found)) {
      const box = this.box(one, style + " joined", x);
      if (one.lane.role === "gap" || found.lane.role === "gap") continue;
      const [upper, lower] = own.y < box.y ? [own, box] : [box, own];
      const line = this.make("path");
      line.setAttribute("class", style + " joined");
      line.setAttribute("d", `M${upper.x + Math.min(upper.width, 4) / 2} ${upper.y + upper.height}L${lower.x} ${lower.y}`);
      this.svg.append(line);
    }
  }

  box({ lane, i, last }, style, x) {
    const left = x(lane, lane.start[i]);
    const width = Math.max(x(lane, lane.start[last] + lane.duration[last]) - left, 2);
    const at = { x: left - 1, y: lane.top - 2, width: width + 2, height: lane.height + 4 };
    const rect = this.make("rect");
    for (const name of Object.keys(at)) rect.setAttribute(name, at[name]);
    rect.setAttribute("class", style);
    this.svg.append(rect);
    return at;
  }
}
