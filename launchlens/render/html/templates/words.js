/* How the report's scripts read arrays and write names and times. */

const narrow = () => window.innerWidth < 600;

const TYPES = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f8: Float64Array };
const decode = (spec) => {
  const bytes = Uint8Array.from(atob(spec.bdata), (c) => c.charCodeAt(0));
  return new TYPES[spec.dtype](bytes.buffer);
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
/** A kernel's name without what most names share: return type, namespaces, casts, arguments. */
const label = (name) =>
  name
    .replace(/\s+/g, " ")
    .replace(/\bvoid /g, "")
    .replace(/<unnamed>::|\(anonymous namespace\)::|\b\w+::(?=[\w<(])/g, "")
    .replace(/\((?:unsigned )?(?:int|long|bool)\)(?=\w)/g, "")
    .replace(/(>|\w)\([^()]*\)$/, "$1");

const el = (tag, text) => {
  const node = document.createElement(tag);
  node.textContent = text;
  return node;
};
