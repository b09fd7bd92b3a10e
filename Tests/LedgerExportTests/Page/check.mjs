// check.mjs PAGE BUNDLE [VKEY]...: verifies a bundle with the script of verify.html, as it is in the bundle.

import { readFile } from "node:fs/promises";

const [page, bundle, ...vkeys] = process.argv.slice(2);
const [, script] = /<script type="module">(.*)<\/script>/s.exec(await readFile(page, "utf8"));
const module = `${script}\nexport { Fault, membersOfTar, verifyBundle };`;
const { Fault, membersOfTar, verifyBundle } = await import(
  `data:text/javascript;base64,${Buffer.from(module).toString("base64")}`);
try {
  const members = await membersOfTar(new Blob([await readFile(bundle)]));
  console.log((await verifyBundle(members, { vkeys, isArchive: true })).conclusion);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  console.log(`DOES NOT HOLD: ${error.message}`);
}
