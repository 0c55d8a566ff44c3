/* How the timeline's scripts unpack their data and write names and times. */

const narrow = () => window.innerWidth < 600;

/** A text that stands in the page as gzip in base64. */
const unpack = (id) => {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};

/** Numbers from their differences. */
const sums = (differences) => {
  let sum = 0;
  return Float64Array.from(differences, (by) => (sum += by));
};

/** A time in words, with the digits that its size calls for. */
const words = (ns) => {
  const size = Math.abs(ns);
  if (size >= 1e9) return (ns / 1e9).toFixed(3) + " s";
  if (size >= 1e6) return (ns / 1e6).toFixed(3) + " ms";
  if (size >= 1e3) return (ns / 1e3).toFixed(3) + " µs";
  return Math.round(ns) + " ns";
};

const shorten = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
/** Plotly reads a little markup in texts: names must not become any. */
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const el = (tag, text) => {
  const node = document.createElement(tag);
  node.textContent = text;
  return node;
};

/** Where ticks of a time axis stand, and what is written there. */
const axisTicks = (from, to, wanted) => {
  const raw = (to - from) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw));
  const [unit, name] = to >= 2e6 && step >= 1e4 ? [1e6, "ms"] : step >= 10 ? [1e3, "µs"] : [1, "ns"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  const values = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) values.push(t);
  return { values, texts: values.map((t) => (t === 0 ? "0" : (t / unit).toFixed(digits) + " " + name)) };
};
