// The files of a bundle, each read once to bounds, and compared with the manifest at the end.

import { exactJSON, fromDecimal, fromUTF8, need, sha256, toHex } from "./bytes.mjs";

const smallBytesMax = 1 << 20;
const manifestBytesMax = 1 << 26;
const lineBytesMax = 1 << 20;

export class BundleFiles {
  /** @type {Map<string, {bytes: bigint, sha256: string}>} */
  digests = new Map();

  /**
   * @param {Map<string, import("./tar.mjs").Member>} members
   * @param {boolean} isArchive whether nothing but the bundle is in it, in its order
   */
  constructor(members, isArchive) {
    this.members = members;
    this.isArchive = isArchive;
  }

  /** @param {string} name */
  has(name) {
    return this.members.has(name);
  }

  /**
   * Reads a file once.
   *
   * @param {string} name
   * @param {number} [bytesMax]
   */
  async whole(name, bytesMax = smallBytesMax) {
    const member = this.members.get(name);
    need(member, `${name} is missing`);
    need(member.size <= bytesMax, `${name} is longer than ${bytesMax} bytes`);
    const bytes = await member.read();
    this.digests.set(name, { bytes: BigInt(bytes.length), sha256: toHex(await sha256(bytes)) });
    return bytes;
  }

  /**
   * @param {string} name
   * @param {number} [bytesMax]
   */
  async lines(name, bytesMax = smallBytesMax) {
    const bytes = await this.whole(name, bytesMax);
    if (bytes.length === 0) return [];
    need(bytes[bytes.length - 1] === 0x0a, `${name} is truncated within a line`);
    const lines = fromUTF8(bytes, name).slice(0, -1).split("\n");
    need(lines.every((line) => line.length <= lineBytesMax), `${name} has a line of more than a mebibyte`);
    return lines;
  }

  /**
   * @param {string[]} order the files that were read, in the order of a bundle
   * @param {bigint} events
   * @param {bigint} checkpoints
   */
  async checkManifest(order, events, checkpoints) {
    const text = fromUTF8(await this.whole("manifest.json", manifestBytesMax), "manifest.json");
    this.digests.delete("manifest.json");
    const manifest = exactJSON(text.replaceAll("\n", ""), "manifest.json");
    need(manifest?.format === "account-ledger-manifest@v1" && Array.isArray(manifest.files), "manifest.json is malformed");
    need(fromDecimal(manifest.events) === events && fromDecimal(manifest.checkpoints) === checkpoints,
      "manifest.json states other counts");
    const stated = new Map();
    for (const { name, bytes, sha256: digest } of manifest.files) {
      need(typeof name === "string" && !stated.has(name), "manifest.json is malformed");
      stated.set(name, { bytes: fromDecimal(bytes), sha256: digest });
    }
    for (const [name, { bytes, sha256: digest }] of this.digests) {
      need(stated.get(name)?.bytes === bytes && stated.get(name)?.sha256 === digest, `${name} does not match manifest.json`,
        { expected: String(stated.get(name)?.sha256), found: digest });
    }
    need(stated.size === this.digests.size, "a file that manifest.json names is missing");
    const names = [...this.members.keys()];
    if (this.isArchive) {
      const wrong = [...order, "manifest.json"].find((name, index) => names[index] !== name);
      need(wrong === undefined && names.length === order.length + 1,
        `${wrong ?? "a file"} is out of order: no ledger wrote this bundle`);
    } else {
      const other = names.find((name) => /^(entries|checkpoints)\//.test(name) && !stated.has(name));
      need(other === undefined, "the files do not match manifest.json");
    }
  }
}
