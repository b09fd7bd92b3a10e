// The published vectors of RFC 6962 and C2SP that the tests in Swift use as well, and a log to make proofs of.

import { createHash } from "node:crypto";

const hash = (...parts) => createHash("sha256").update(Buffer.concat(parts.map((part) => Buffer.from(part)))).digest();

/** The first eight leaves of Certificate Transparency's tests. */
export const entries = [
  "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
].map((hex) => new Uint8Array(Buffer.from(hex, "hex")));

export const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "6e340b9cffb37a98", "fac54203e7cc696c",
  "aeb6bcfe274b70a1", "d37ee418976dd957", "4e3bbb1f7b478dcf", "76e67dadbcdf1e10", "ddb89be403809e32",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

export const origin = "ledger.example.com/accounts/prod";
export const logKey = `${origin}+8c78cf65+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx`;
export const witnessKey = "witness.example.org/w1+718e134e+BHun0VNAaOinILs4fYx9M8U2nh2Uos9enWj6iwn0agfE";
export const note = `${origin}
8
XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

— ${origin} jHjPZRWHM8wBqYNf9IMPlWG6prg3p9MA29PBeyVvXS8687TBRFq06mwSAfpd3AVTZ6s+zSj1N8qBhuSNEpdkhWLSdgY=
— witness.example.org/w1 cY4TTgAAAABqsTuAVI629fu0sPyrELZ8tNUZqaGM/BuNoENVEEcNoM6DqF56HboNB0oX9uyrWdzY24Xp1jZYzqqfwztG++EdzojPBg==
`;

/** Hashes by RFC 6962's own recursive definition, which the modules do not use. */
export const reference = {
  leaf: (entry) => hash([0], entry),
  root(leaves) {
    if (leaves.length === 0) return hash();
    if (leaves.length === 1) return leaves[0];
    const split = splitOf(leaves.length);
    return hash([1], reference.root(leaves.slice(0, split)), reference.root(leaves.slice(split)));
  },
  path(position, leaves) {
    if (leaves.length <= 1) return [];
    const split = splitOf(leaves.length);
    return position < split
      ? [...reference.path(position, leaves.slice(0, split)), reference.root(leaves.slice(split))]
      : [...reference.path(position - split, leaves.slice(split)), reference.root(leaves.slice(0, split))];
  },
  consistency(old, leaves, isWhole = true) {
    if (old === leaves.length) return isWhole ? [] : [reference.root(leaves)];
    const split = splitOf(leaves.length);
    return old <= split
      ? [...reference.consistency(old, leaves.slice(0, split), isWhole), reference.root(leaves.slice(split))]
      : [...reference.consistency(old - split, leaves.slice(split), false), reference.root(leaves.slice(0, split))];
  },
};

function splitOf(size) {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** Bytes with one of them changed. */
export function flipped(bytes, index, mask = 0x01) {
  const changed = Uint8Array.from(bytes);
  changed[index] ^= mask;
  return changed;
}
