// Finds what a page shows by role and name. Runs in the page.

function make() {
  const selectors = {
    button: "button", link: "a[href]", textbox: "input:not([type=radio])", radio: "input[type=radio]",
    heading: "h1, h2, h3", listitem: "li", list: "ul, ol", dialog: "dialog[open]", img: "[role=img]", summary: "summary",
  };
  const clean = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const name = (node) => clean(
    node.getAttribute("aria-label") ?? (node.labels?.length ? node.labels[0].textContent : null)
      ?? (node.matches("dialog") ? node.querySelector("h2")?.textContent : node.textContent));
  const isShown = (node) => node.getClientRects().length > 0;
  const all = (role) => {
    const modal = document.querySelector("dialog:modal");
    return [...(modal && role !== "dialog" ? modal : document).querySelectorAll(selectors[role])].filter(isShown);
  };
  const find = (role, wanted) => all(role).find((node) => name(node) === wanted);
  let target = null;
  let clicked = null;
  return {
    find,
    isClicked: () => target === null || clicked === target,
    focused: () => (document.activeElement ? name(document.activeElement) : ""),
    items: (list) => [...(find("list", list)?.children ?? [])].map((node) => clean(node.innerText)),
    middle(role, wanted) {
      const node = find(role, wanted);
      clicked = null;
      node.addEventListener("click", () => { clicked = node; }, { capture: true, once: true });
      target = node;
      node.scrollIntoView({ block: "center", behavior: "instant" });
      const { x, y, width, height } = node.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    },
    select(label) {
      const node = find("textbox", label);
      node.focus();
      node.select();
    },
  };
}

/** The script for a page. */
export const lookup = `globalThis.lookup = (${make})()`;
