/* Lanes of the timeline: their spans, and what of them a zoom level can show. */

const COLUMN = 2; // spans narrower than this many pixels share columns this wide
const FLOOR = 0.14; // no column is lower than this share of its lane, or it would vanish
const TEXT_ROOM = 44; // a span at least this wide carries its name
const BAR = { host: 24, stream: 24, gap: 24, range: 15 };

/** A lane with its columns as arrays; `side` is the side it belongs to. */
const readLane = (lane, side) => ({
  ...lane, side, height: BAR[lane.role] || 20, start: sums(lane.start), id: sums(lane.id),
});

/** Index of the first span of a lane that can reach to or past an instant. */
const firstAt = (lane, t) => {
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
};

/** The span of a lane nearest to an instant, within a distance; or null. */
const nearest = (lane, t, distance) => {
  let best = null;
  for (let i = firstAt(lane, t); i < lane.start.length && lane.start[i] <= t + distance; i++) {
    const away = Math.max(lane.start[i] - t, t - lane.start[i] - lane.duration[i], 0);
    if (away < distance || (away === 0 && distance === 0)) {
      best = i;
      distance = away;
    }
  }
  return best;
};

/** Rectangles of a lane between two of its instants, a polygon list for each kind, and names.
    `x` makes the axis' coordinate of an instant. */
const laneShapes = (lane, from, to, width, names, x) => {
  const reach = to - from;
  const perPixel = reach / width;
  const left = from - reach * 0.5; // so that dragging shows something at once
  const right = to + reach * 0.5;
  const shapes = lane.kinds.map(() => ({ x: [], y: [] }));
  const texts = { x: [], y: [], text: [], colour: [] };
  const bottom = lane.top + lane.height;
  const box = (kind, t0, t1, y0, y1) => {
    const [x0, x1] = [x(t0), x(t1)];
    shapes[kind].x.push(x0, x1, x1, x0, x0, null);
    shapes[kind].y.push(y0, y0, y1, y1, y0, null);
  };
  const columnNs = COLUMN * perPixel;
  const origin = Math.floor(left / columnNs);
  const columns = Math.ceil((right - left) / columnNs) + 2;
  let covered = null;
  let last = -1;
  for (let i = firstAt(lane, left); i < lane.start.length; i++) {
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
      const t0 = Math.max(start, from);
      const t1 = Math.min(end, to);
      const room = (t1 - t0) / perPixel;
      if (room > TEXT_ROOM && lane.role !== "gap") {
        texts.x.push(x((t0 + t1) / 2));
        texts.y.push(lane.top + lane.height / 2);
        texts.colour.push(lane.inks[kind]);
        texts.text.push(plain(shorten(names[lane.name[i]], Math.floor((room - 8) / 6.2))));
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
    const t0 = (column + origin) * columnNs;
    let y = bottom;
    for (let k = 0; k < lane.kinds.length; k++) {
      const part = (covered[base + k] / total) * share * lane.height;
      if (part === 0) continue;
      box(k, t0, t0 + columnNs, y - part, y);
      y -= part;
    }
  }
  return { shapes, texts };
};
