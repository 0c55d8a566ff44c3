/* What an element has to say where it is pointed at, tapped, or has the focus. */

/** What the page still has to do before it is complete. */
const waits = [];

const tipBox = document.querySelector(".tip");

const placeTip = (x, y) => {
  tipBox.hidden = false;
  const room = tipBox.getBoundingClientRect();
  const left = Math.min(x + 14, window.innerWidth - room.width - 8);
  const below = y + 18;
  const top = below + room.height > window.innerHeight ? y - room.height - 12 : below;
  tipBox.style.left = Math.max(8, left) + "px";
  tipBox.style.top = Math.max(8, top) + "px";
};
const hideTip = () => { tipBox.hidden = true; };
const showTip = (event) => {
  const host = event.target.closest?.("[data-tip]");
  if (!host) {
    if (!event.target.closest?.(".timeline-plot")) hideTip();
    return;
  }
  tipBox.textContent = host.dataset.tip;
  const frame = host.getBoundingClientRect();
  placeTip(event.clientX ?? frame.left, event.clientY ?? frame.bottom);
};
for (const kind of ["mousemove", "focusin", "click"]) document.addEventListener(kind, showTip);
document.addEventListener("scroll", hideTip, { passive: true, capture: true });
document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
