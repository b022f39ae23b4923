// The theme marks the captions of the navigation as headings without a level, and only a pointer can scroll its wide blocks.
// Pictures are links to themselves, as their text is small on a phone.
// (WAI-ARIA: `heading` requires `aria-level`; WCAG 2.1.1: everything works with the keyboard.)
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll('.caption[role="heading"]')) caption.setAttribute("aria-level", "2");
  for (const image of document.querySelectorAll("article img")) {
    if (image.closest("a")) continue;
    const link = document.createElement("a");
    link.className = "picture";
    link.href = image.src;
    image.replaceWith(link);
    link.append(image);
  }
  const blocks = document.querySelectorAll("pre, .table-wrapper");
  const reach = () => {
    for (const block of blocks) {
      if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
      else block.removeAttribute("tabindex");
    }
  };
  reach();
  addEventListener("resize", reach);
});
