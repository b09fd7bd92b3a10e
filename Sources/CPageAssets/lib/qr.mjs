// QR codes as pictures of SVG, drawn from their modules.

import { svg } from "./el.mjs";

/** The light modules around a code, which scanners need. */
const quietZone = 4;

/**
 * Draws a code.
 *
 * @param {string[]} rows texts of `1` for dark modules and `0`
 * @param {string} label
 */
export function qrCode(rows, label) {
  const size = rows.length + 2 * quietZone;
  let path = "";
  rows.forEach((row, y) => {
    for (const match of row.matchAll(/1+/g)) {
      path += `M${(match.index ?? 0) + quietZone} ${y + quietZone}h${match[0].length}v1h-${match[0].length}z`;
    }
  });
  return svg("svg", { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label },
    svg("rect", { width: size, height: size, fill: "#fff" }), svg("path", { d: path, fill: "#000" }));
}
