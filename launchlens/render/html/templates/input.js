/* What mouse, keys and buttons do to a timeline. */

/** The span at a place on the screen, the nearest within a few pixels; or null. */
const hit = (view, event) => {
  const frame = view.holder.getBoundingClientRect();
  const y = event.clientY - frame.top;
  const lane = view.lanes.find((l) => y >= l.label && y < l.top + l.height + SPACE / 2);
  if (!lane) return null;
  const [from, to] = view.seen(lane.side);
  const perPixel = (to - from) / view.width;
  const i = nearest(lane, from + (event.clientX - frame.left - PAD) * perPixel, 5 * perPixel);
  return i === null ? null : { lane, i };
};

const zoomToSelected = (view) => {
  if (!view.selected) return;
  const { lane, i } = view.selected;
  const room = Math.max(lane.duration[i], 200);
  const scale = lane.side.scale;
  view.show((lane.start[i] - room) * scale, (lane.start[i] + lane.duration[i] + room) * scale);
};

const step = (view, by) => {
  const lane = view.lanes[view.laneIndex];
  if (!lane) return;
  const same = view.selected && view.selected.lane === lane;
  const i = same ? view.selected.i + by : firstAt(lane, view.seen(lane.side)[0]);
  if (i >= 0 && i < lane.start.length) view.select({ lane, i }, true);
};

const changeLane = (view, by) => {
  const lane = view.lanes[view.laneIndex + by];
  if (!lane) return;
  const from = view.selected ? view.selected.lane : lane;
  const at = view.selected ? from.start[view.selected.i] * from.side.scale : view.view[0];
  view.select({ lane, i: firstAt(lane, at / lane.side.scale) }, true);
};

const find = (view, text, backwards) => {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return;
  const matches = new Set();
  view.names.forEach((name, n) => {
    if (name.toLowerCase().includes(wanted) || view.short[n].toLowerCase().includes(wanted)) matches.add(n);
  });
  const hits = [];
  for (const lane of view.sides.flatMap((side) => side.lanes)) {
    if (lane.role === "gap") continue;
    for (let i = 0; i < lane.start.length; i++) if (matches.has(lane.name[i])) hits.push({ lane, i });
  }
  if (!hits.length) {
    view.status.textContent = "No span has “" + text + "” in its name.";
    return;
  }
  const now = view.selected
    ? hits.findIndex((h) => h.lane === view.selected.lane && h.i === view.selected.i) : -1;
  const next = hits[(now + (backwards ? -1 : 1) + hits.length) % hits.length];
  view.select(next, true);
  view.status.append(hits.length === 1 ? " (1 span matches)" : " (" + hits.length + " spans match)");
};

const pointAt = (view, event) => {
  const found = event.buttons ? null : hit(view, event);
  view.outline(found);
  if (!found) {
    hideTip();
    return;
  }
  const { name, short, facts } = view.describe(found);
  tipBox.replaceChildren(el("b", shorten(short, 200)), el("span", facts));
  if (name !== short) tipBox.append(el("small", shorten(name, 600)));
  placeTip(event.clientX, event.clientY);
};

const listen = (view) => {
  const { root, holder } = view;
  const folded = view.sides.flatMap((side) => side.lanes).filter((lane) => lane.folded).length;
  const lanes = root.querySelector("[data-act=lanes]");
  lanes.hidden = !folded;
  lanes.textContent = "All lanes (+" + folded + ")";
  const axes = root.querySelector("[data-act=axes]");
  const acts = {
    in: () => view.zoom(0.4), out: () => view.zoom(2.5), left: () => view.pan(-0.6),
    right: () => view.pan(0.6), all: () => view.show(...view.full), selected: () => zoomToSelected(view),
    linked: () => view.selected && otherEnd(view.selected) && view.select(otherEnd(view.selected), true),
    lanes: () => view.unfold(!view.unfolded),
    axes: () => {
      view.own = !view.own;
      axes.setAttribute("aria-pressed", String(view.own));
      view.arrange();
    },
  };
  for (const button of root.querySelectorAll("button[data-act]")) {
    button.addEventListener("click", () => acts[button.dataset.act]());
  }
  const search = root.querySelector("input[type=search]");
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      find(view, search.value, event.shiftKey);
    }
  });
  holder.on("plotly_relayout", (change) => {
    const from = change["xaxis.range[0]"];
    if (from !== undefined) view.show(from, change["xaxis.range[1]"]);
  });
  holder.on("plotly_doubleclick", () => view.show(...view.full));
  holder.addEventListener("mousemove", (event) => pointAt(view, event));
  holder.addEventListener("mouseleave", () => {
    hideTip();
    view.outline(null);
  });
  holder.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const frame = holder.getBoundingClientRect();
    const share = (event.clientX - frame.left - PAD) / view.width;
    view.zoom(event.deltaY > 0 ? 1.25 : 0.8, view.view[0] + share * (view.view[1] - view.view[0]));
  }, { passive: false });
  let pressed = null;
  holder.addEventListener("pointerdown", (event) => { pressed = event; }, true);
  window.addEventListener("pointerup", (event) => {
    if (pressed && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) < 4) {
      const found = hit(view, event);
      if (found) view.select(found, false);
    }
    pressed = null;
  }, true);
  const keys = {
    ArrowRight: () => step(view, 1), ArrowLeft: () => step(view, -1), ArrowDown: () => changeLane(view, 1),
    ArrowUp: () => changeLane(view, -1), "+": acts.in, "=": acts.in, "-": acts.out, Home: acts.all,
    Enter: acts.selected, l: acts.linked, L: acts.linked,
    Escape: () => { hideTip(); view.select(null, false); },
  };
  holder.addEventListener("keydown", (event) => {
    const act = event.altKey || event.ctrlKey || event.metaKey ? null : keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  let drawnWidth = holder.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(holder.clientWidth - drawnWidth) < 2) return;
    drawnWidth = holder.clientWidth;
    view.draw();
  }).observe(holder);
};

/** Unpacks data and library, then draws. The page's policy knows the library by its digest. */
const drawTimelines = async () => {
  const payloads = JSON.parse(await unpack("timeline-data"));
  const library = document.createElement("script");
  library.textContent = await unpack("plotly-packed");
  document.head.append(library);
  const views = payloads
    .filter((payload) => payload.sides.length)
    .map((payload) => new TimelineView(document.getElementById(payload.id), payload));
  /* Paper has its own width. */
  const resize = (width) => {
    for (const view of views) {
      view.holder.style.width = width;
      view.draw();
    }
  };
  window.addEventListener("beforeprint", () => resize("680px"));
  window.addEventListener("afterprint", () => resize(""));
};
waits.push(drawTimelines().catch((error) => {
  for (const status of document.querySelectorAll(".timeline-status")) {
    status.textContent = "The timeline could not be drawn: " + error.message + ". A browser from 2023 or later draws it.";
  }
}));
