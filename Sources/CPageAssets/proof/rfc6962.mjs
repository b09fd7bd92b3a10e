// Hashes and proofs of RFC 6962, section 2.1, verified as RFC 9162, sections 2.1.3.2 and 2.1.4.2, describes.

import { areEqual, joined, need, sha256, toBase64 } from "./bytes.mjs";

const leafPrefix = Uint8Array.of(0);
const nodePrefix = Uint8Array.of(1);
const hashesMax = 63;

/** @param {Uint8Array} entry */
export function leafHash(entry) {
  return sha256(joined(leafPrefix, entry));
}

/**
 * @param {Uint8Array} left
 * @param {Uint8Array} right
 */
export function nodeHash(left, right) {
  return sha256(joined(nodePrefix, left, right));
}

/** The root of a tree without leaves. */
export function emptyRoot() {
  return sha256(new Uint8Array());
}

/** The way from a leaf up to the root. */
class Ascent {
  /**
   * @param {bigint} position
   * @param {bigint} size
   */
  constructor(position, size) {
    this.node = position;
    this.last = size - 1n;
  }

  get isAtRoot() {
    return this.last === 0n;
  }

  /** Skips the levels on which the node is a right child. */
  skipRightChildren() {
    while (this.node & 1n) this.ascend();
  }

  /** Ascends to the next node with two children; returns whether the other child is the left one. */
  next() {
    need(this.last > 0n, "the proof has too many hashes");
    const isLeft = Boolean(this.node & 1n) || this.node === this.last;
    if (isLeft) while (!(this.node & 1n) && this.node > 0n) this.ascend();
    this.ascend();
    return isLeft;
  }

  ascend() {
    this.node >>= 1n;
    this.last >>= 1n;
  }
}

/**
 * Returns if a leaf is at the position of the tree with this root.
 *
 * @param {{position: bigint, size: bigint, leaf: Uint8Array, path: Uint8Array[], root: Uint8Array}} proof
 */
export async function checkInclusion({ position, size, leaf, path, root }) {
  need(position >= 0n && position < size, "the tree has no such position");
  need(path.length <= hashesMax, "the proof has too many hashes");
  const ascent = new Ascent(position, size);
  let hash = leaf;
  for (const sibling of path) {
    hash = ascent.next() ? await nodeHash(sibling, hash) : await nodeHash(hash, sibling);
  }
  need(ascent.isAtRoot, "the proof has too few hashes");
  needHash(hash, root, "the path leads to another root");
}

/**
 * Returns if the tree with a root extends the one with the older root.
 *
 * @param {{old: bigint, size: bigint, path: Uint8Array[], oldRoot: Uint8Array, root: Uint8Array}} proof
 */
export async function checkConsistency({ old, size, path, oldRoot, root }) {
  need(old >= 0n && old <= size, "the tree is smaller than the older one");
  need(path.length <= hashesMax, "the proof has too many hashes");
  if (old === 0n) {
    need(path.length === 0, "the proof has too many hashes");
    needHash(oldRoot, await emptyRoot(), "the root of the older tree is not that of an empty one");
    if (size === 0n) needHash(root, oldRoot, "two trees of this size have different roots");
    return;
  }
  if (old === size) {
    need(path.length === 0, "the proof has too many hashes");
    needHash(root, oldRoot, "two trees of this size have different roots");
    return;
  }
  // A complete subtree is its own beginning, and not in the path.
  const subtrees = old & (old - 1n) ? path : [oldRoot, ...path];
  need(subtrees.length > 0, "the proof has too few hashes");
  const ascent = new Ascent(old - 1n, size);
  ascent.skipRightChildren();
  let oldHash = subtrees[0];
  let hash = subtrees[0];
  for (const subtree of subtrees.slice(1)) {
    if (ascent.next()) {
      oldHash = await nodeHash(subtree, oldHash);
      hash = await nodeHash(subtree, hash);
    } else {
      hash = await nodeHash(hash, subtree);
    }
  }
  need(ascent.isAtRoot, "the proof has too few hashes");
  needHash(oldHash, oldRoot, "the proof leads to another root of the older tree");
  needHash(hash, root, "the proof leads to another root");
}

/** Complete subtrees from the left, one for each bit of the size. */
export class Tree {
  size = 0n;
  /** @type {(Uint8Array | undefined)[]} the subtree of each level, if there is one */
  #subtrees = [];

  /**
   * Appends leaves; the hashes of a level are computed at once.
   *
   * @param {Uint8Array[]} leaves
   */
  async append(leaves) {
    this.size += BigInt(leaves.length);
    let added = leaves;
    for (let level = 0; added.length > 0; level += 1) {
      const former = this.#subtrees[level];
      const nodes = former ? [former, ...added] : added;
      this.#subtrees[level] = nodes.length % 2 ? nodes[nodes.length - 1] : undefined;
      const pairs = [];
      for (let index = 0; index + 1 < nodes.length; index += 2) pairs.push(nodeHash(nodes[index], nodes[index + 1]));
      added = await Promise.all(pairs);
    }
  }

  async root() {
    let root;
    for (const subtree of this.#subtrees) {
      if (subtree) root = root ? await nodeHash(subtree, root) : subtree;
    }
    return root ?? emptyRoot();
  }
}

/**
 * @param {Uint8Array} found
 * @param {Uint8Array} expected
 * @param {string} text
 */
function needHash(found, expected, text) {
  if (!areEqual(found, expected)) need(false, text, { expected: toBase64(expected), found: toBase64(found) });
}
