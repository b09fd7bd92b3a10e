// The files of a bundle: members of a plain tar file, or files of the directory into which it was unpacked.

import { Fault, fromUTF8, need } from "./bytes.mjs";

const block = 512;
const membersMax = 1_000_000;

/**
 * A file of a bundle, which is read when it is needed.
 *
 * @typedef {{size: number, read: () => Promise<Uint8Array>}} Member
 */

/**
 * Lists the members of a tar file, in its order.
 *
 * @param {Blob} tar
 * @returns {Promise<Map<string, Member>>}
 */
export async function membersOfTar(tar) {
  const members = new Map();
  let start = 0;
  while (true) {
    need(start + block <= tar.size, "the bundle is truncated");
    const header = await bytesOf(tar.slice(start, start + block));
    if (header.every((byte) => byte === 0)) break;
    need(members.size < membersMax, "the bundle has too many files");
    need(sumOf(header) === octal(header, 148, 8), "the bundle is not a tar file");
    need(header[156] === 0x30 || header[156] === 0, "the bundle has a member that is not a file");
    const name = textOf(header, 0, 100);
    need(textOf(header, 345, 155) === "" && name !== "", "the bundle has a file of another name");
    need(!members.has(name), "the bundle has a duplicate file name");
    const size = octal(header, 124, 12);
    const content = start + block;
    need(content + size <= tar.size, "the bundle is truncated");
    members.set(name, { size, read: () => bytesOf(tar.slice(content, content + size)) });
    start = content + Math.ceil(size / block) * block;
  }
  return members;
}

/**
 * Lists files that were chosen with their directory; others than a bundle's, beside it, do not matter.
 *
 * @param {Iterable<File>} files
 * @returns {Map<string, Member>}
 */
export function membersOfDirectory(files) {
  const members = new Map();
  for (const file of files) {
    const name = file.webkitRelativePath.split("/").slice(1).join("/");
    members.set(name, { size: file.size, read: () => bytesOf(file) });
  }
  return members;
}

/** @param {Blob} blob */
async function bytesOf(blob) {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch {
    throw new Fault("a file can't be read");
  }
}

/** The checksum of a header, in which its own field counts as spaces. */
function sumOf(/** @type {Uint8Array} */ header) {
  return header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);
}

/**
 * @param {Uint8Array} header
 * @param {number} start
 * @param {number} count
 */
function textOf(header, start, count) {
  const field = header.subarray(start, start + count);
  const end = field.indexOf(0);
  return fromUTF8(end < 0 ? field : field.subarray(0, end), "a file's name");
}

/**
 * @param {Uint8Array} header
 * @param {number} start
 * @param {number} count
 */
function octal(header, start, count) {
  const text = textOf(header, start, count).trim();
  need(/^[0-7]{1,11}$/.test(text), "the bundle is not a tar file");
  return parseInt(text, 8);
}
