#!/usr/bin/env python3
"""Verifies a bundle of AccountLedger with Python's standard library and the openssl command.

    verify.py [--vkey VKEY]... [--signatures] [BUNDLE]

BUNDLE is the tar file or its unpacked directory; by default the directory of this program.
VKEY is a key of the log from another source. Without one the bundle's own are used, which
only shows that the bundle is consistent. With --signatures the signature of each listed checkpoint
is checked as well, by one openssl process each; without, only those of the newest one and of those
that it extends. Exits with 0 when everything holds, else with 1 and the first failed check.

VERIFY.md describes the same steps. Read this program before you trust it: the maker of the bundle may
have changed it as well.
"""

import argparse
import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile


class Fault(Exception):
    """A failed check, and the first position that is or may be bad."""

    def __init__(self, text, position=None):
        super().__init__(text if position is None else f"position {position}: {text}")
        self.position = position


def need(condition, text, position=None):
    if not condition:
        raise Fault(text, position)


# RFC 6962, section 2.1


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(entry):
    return sha256(b"\0" + entry)


def node_hash(left, right):
    return sha256(b"\1" + left + right)


class Tree:
    """Complete subtrees from the left, one for each bit of the size."""

    def __init__(self):
        self.size, self.subtrees = 0, []

    def append(self, leaf):
        self.size += 1
        size = self.size
        while size % 2 == 0:
            leaf, size = node_hash(self.subtrees.pop(), leaf), size // 2
        self.subtrees.append(leaf)

    def root(self):
        if not self.subtrees:
            return sha256(b"")
        hash = self.subtrees[-1]
        for left in reversed(self.subtrees[:-1]):
            hash = node_hash(left, hash)
        return hash


def included(position, size, leaf, path, root):
    """RFC 9162, section 2.1.3.2."""
    if not 0 <= position < size:
        return False
    node, last, hash = position, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if node & 1 or node == last:
            hash = node_hash(sibling, hash)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            hash = node_hash(hash, sibling)
        node, last = node >> 1, last >> 1
    return last == 0 and hash == root


def consistent(old, size, path, old_root, root):
    """RFC 9162, section 2.1.4.2."""
    if old == size:
        return not path and old_root == root
    if not 0 < old < size:
        return False
    if old & (old - 1) == 0:
        path = [old_root] + path
    if not path:
        return False
    node, last = old - 1, size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old_hash = hash = path[0]
    for subtree in path[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            old_hash, hash = node_hash(subtree, old_hash), node_hash(subtree, hash)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            hash = node_hash(hash, subtree)
        node, last = node >> 1, last >> 1
    return last == 0 and old_hash == old_root and hash == root


# Canonical encodings


def from_base64(text):
    data = base64.b64decode(text, validate=True)
    need(base64.b64encode(data).decode() == text, "base64 that is not canonical")
    return data


def from_decimal(text):
    need(isinstance(text, str) and text.isascii() and text.isdigit(), "a malformed number")
    need(len(text) < 20 and str(int(text)) == text, "a number that is not canonical")
    return int(text)


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_json(text):
    def members(pairs):
        need(len(dict(pairs)) == len(pairs), "an object has a duplicate member")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=members)


def path_of(line):
    need(len(line["path"]) < 64, "a proof is too long")
    return [from_base64(text) for text in line["path"]]


# C2SP signed-note and tlog-checkpoint

# The DER prefix of the 32 bytes of an Ed25519 key, for openssl.
DER_PREFIX = bytes.fromhex("302a300506032b6570032100")


class Key:
    def __init__(self, vkey):
        self.vkey = vkey
        self.name, id, encoded = vkey.split("+", 2)
        key = from_base64(encoded)
        need(len(key) == 33 and key[0] == 1, "a key is not an Ed25519 key")
        self.public = key[1:]
        self.id = sha256(self.name.encode() + b"\n" + key)[:4]
        need(bytes.fromhex(id) == self.id, "a key's id does not match it")

    def verifies(self, signature, text):
        if len(signature) != 64:
            return False
        with tempfile.TemporaryDirectory() as directory:
            names = [os.path.join(directory, name) for name in ("key", "text", "signature")]
            for name, content in zip(names, (DER_PREFIX + self.public, text, signature)):
                with open(name, "wb") as file:
                    file.write(content)
            return subprocess.run(
                ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", names[0],
                 "-rawin", "-in", names[1], "-sigfile", names[2]],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            ).returncode == 0


class Checkpoint:
    """A parsed signed note, with the keys that have signed it.

    Without keys no signature is checked.
    """

    def __init__(self, note, keys=()):
        need(all(c == "\n" or c >= " " for c in note), "a note contains control characters")
        text, separator, signatures = note.rpartition("\n\n")
        need(separator and signatures.endswith("\n"), "a note has no signatures")
        text += "\n"
        lines = text.split("\n")
        need(len(lines) >= 4 and all(lines[:-1]), "a note is not a checkpoint")
        self.origin, self.size, self.root = lines[0], from_decimal(lines[1]), from_base64(lines[2])
        need(len(self.root) == 32, "a root does not have 32 bytes")
        self.signers = []
        for line in signatures.split("\n")[:-1]:
            dash, name, encoded = line.split(" ")
            need(dash == "\u2014" and name and "+" not in name, "a malformed signature")
            signature = from_base64(encoded)
            for key in keys:
                if (key.name, key.id) == (name, signature[:4]):
                    need(key.verifies(signature[4:], text.encode()),
                         f"the signature of the checkpoint of {self.size} entries is wrong")
                    self.signers.append(key)
        self.is_signed = any(key.name == self.origin for key in self.signers)


# The bundle's files

# Files that prove nothing: texts, programs, and the keys when others are given.
UNVERIFIED = {"VERIFY.md", "keys.txt", "verify.go", "verify.html", "verify.py"}


class Bundle:
    def __init__(self, path):
        self.archive, self.read = None, set()
        if os.path.isdir(path):
            # Other files in the directory, such as the tar file, do not belong to the bundle.
            names = [name for name in os.listdir(path) if os.path.isfile(os.path.join(path, name))]
            for part in ("entries", "checkpoints"):
                for directory, _, files in os.walk(os.path.join(path, part)):
                    names += [os.path.relpath(os.path.join(directory, file), path) for file in files]
            self.files = {name.replace(os.sep, "/"): os.path.join(path, name) for name in names}
        else:
            self.archive = tarfile.open(path, "r:")
            members = self.archive.getmembers()
            need(all(member.isreg() and not member.issparse() for member in members),
                 "the bundle has a member that is not a file")
            self.files = {member.name: member for member in members}
            need(len(self.files) == len(members), "the bundle has a duplicate file name")

    def open(self, name):
        need(name in self.files, f"{name} is missing")
        self.read.add(name)
        if self.archive:
            return self.archive.extractfile(self.files[name])
        return open(self.files[name], "rb")

    def text(self, name):
        with self.open(name) as file:
            return file.read().decode()

    def lines(self, name):
        with self.open(name) as file:
            for line in file:
                need(line.endswith(b"\n"), f"{name} is truncated within a line")
                yield line

    def check_manifest(self, events, checkpoints):
        manifest = from_json(self.text("manifest.json"))
        need(manifest["format"] == "account-ledger-manifest@v1", "unknown manifest format")
        need((from_decimal(manifest["events"]), from_decimal(manifest["checkpoints"]))
             == (events, checkpoints), "manifest.json states other counts")
        wanted = {file["name"]: file for file in manifest["files"]}
        found = {name for name in self.files if self.archive or "/" in name or name in wanted}
        need(set(wanted) | {"manifest.json"} == found | {"manifest.json"}
             and len(wanted) == len(manifest["files"]),
             "the files do not match manifest.json")
        # Whoever adds a file can list it, and its content would pass for verified.
        unread = set(wanted) - self.read - UNVERIFIED
        need(not unread, f"{min(unread, default='')} is not a file of a bundle")
        for name, file in sorted(wanted.items()):
            digest, count = hashlib.sha256(), 0
            with self.open(name) as content:
                for chunk in iter(lambda: content.read(1 << 20), b""):
                    digest.update(chunk)
                    count += len(chunk)
            need(digest.hexdigest() == file["sha256"] and count == from_decimal(file["bytes"]),
                 f"{name} does not match manifest.json")


# Consistency of entries in themselves and with each other


class Histories:
    def __init__(self, head):
        self.tenant, self.account = head["tenant"], head.get("account")
        self.is_disclosed, self.disclosures, self.left_out = head["disclosed"], 0, 0
        self.tails, self.recorded_at = {}, ""
        self.missing, self.erased = {}, set()

    def take(self, line, entry, position):
        event = from_json(entry.decode())
        need(event["tenant"] == self.tenant, "the entry is of another tenant", position)
        need(from_decimal(event["position"]) == position, "the entry states another position", position)
        need(event["recorded_at"] >= self.recorded_at, "recorded_at goes back", position)
        self.recorded_at = event["recorded_at"]
        touched = [a for a in event["accounts"] if self.account in (None, a["id"])]
        need(touched or self.account is None, "the entry does not touch the account", position)
        for account in touched:
            seq, prev, before = self.tails.get(account["id"], (0, None, position))
            need(from_decimal(account["seq"]) == seq,
                 f"seq of account {account['id']} is not {seq}", position)
            need(account["prev"] == prev,
                 f"the entry is not the one that position {position} names as prev of account "
                 f"{account['id']}", before)
            self.tails[account["id"]] = (seq + 1, base64url(leaf_hash(entry)), position)
        self.disclose(line.get("disclosures", []), event, position)

    def disclose(self, disclosures, event, position):
        """Checks the disclosures about the event's first account, one for each digest."""
        owner = event["accounts"][0]["id"] if event["accounts"] else None
        is_own = self.account in (None, owner)
        if event["type"] == "AccountErased":
            self.erased.add(owner)
        need(self.is_disclosed or not disclosures, "the bundle has disclosures but declares none", position)
        need(is_own or not disclosures, "a disclosure is about another account", position)
        need(len(set(disclosures)) == len(disclosures), "duplicate disclosure", position)
        for disclosure in disclosures:
            need(base64url(sha256(disclosure.encode())) in event["_sd"],
                 "a disclosure's digest is not in the entry", position)
            self.disclosures += 1
        absent = len(event["_sd"]) - len(disclosures)
        if self.is_disclosed and absent and is_own:
            count, first = self.missing.get(owner, (0, position))
            self.missing[owner] = (count + absent, first)
        elif self.is_disclosed:
            self.left_out += absent

    def settle(self):
        """Fails if a disclosure was withheld; returns the number that erasures destroyed."""
        withheld = [missing for owner, missing in self.missing.items() if owner not in self.erased]
        need(not withheld, f"{sum(count for count, _ in withheld)} disclosures are WITHHELD from here "
             "on: nothing in the bundle erased their account",
             min((first for _, first in withheld), default=None))
        return sum(count for count, _ in self.missing.values())

    def conclusion(self):
        if self.account is None:
            return "everything holds: every entry of the log up to the checkpoint is here"
        seq, _, position = self.tails[self.account]
        return (f"everything holds up to seq {seq - 1} at position {position}, without a gap; that no "
                "later entry of the account follows is not proved")


def verify(path, vkeys, checks_signatures):
    bundle = Bundle(path)
    head = from_json(bundle.text("bundle.json"))
    need(head["format"] == "account-ledger-bundle@v1", "unknown bundle format")
    need((head["scope"], "account" in head) in (("all", False), ("account", True)), "unknown scope")
    need(head["disclosed"] is True or head["disclosed"] is False, "bundle.json is malformed")
    is_whole = head["scope"] == "all"
    keys = [Key(vkey) for vkey in vkeys or bundle.text("keys.txt").splitlines()]
    newest = Checkpoint(bundle.text("checkpoint.txt"), keys)
    need(newest.is_signed, "none of the keys has signed checkpoint.txt")
    need((newest.origin, newest.size, newest.root)
         == (head["origin"], from_decimal(head["size"]), from_base64(head["root"])),
         "checkpoint.txt does not match bundle.json")
    checkpoints, unchecked, unsigned = 0, 0, 0
    for line in map(from_json, bundle.lines("consistency.jsonl")):
        older = Checkpoint(line["note"], keys)
        need(older.origin == newest.origin, "an older checkpoint is of another log")
        need(consistent(older.size, newest.size, path_of(line), older.root, newest.root),
             f"the checkpoint does not continue the one of {older.size} entries")
        checkpoints, unsigned = checkpoints + 1, unsigned + (not older.is_signed)

    histories, tree, last, events, sound, part = Histories(head), Tree(), -1, 0, 0, 0
    while f"entries/{part:06}.jsonl" in bundle.files:
        ahead = []
        if f"checkpoints/{part:06}.jsonl" in bundle.files:
            ahead = [Checkpoint(from_json(line)["note"], keys if checks_signatures else ())
                     for line in bundle.lines(f"checkpoints/{part:06}.jsonl")]
            if checks_signatures:
                unsigned += sum(not checkpoint.is_signed for checkpoint in ahead)
            else:
                unchecked += len(ahead)
        need(all(checkpoint.origin == newest.origin for checkpoint in ahead),
             "a listed checkpoint is of another log")
        for line in bundle.lines(f"entries/{part:06}.jsonl"):
            try:
                line = from_json(line)
                position, entry = from_decimal(line["position"]), from_base64(line["entry"])
                if is_whole:
                    need(position == last + 1, "the entry is missing", last + 1)
                else:
                    need(position > last, "the entries are not in order", position)
                    need(included(position, newest.size, leaf_hash(entry), path_of(line), newest.root),
                         "the proof does not lead from the entry to the checkpoint", position)
                histories.take(line, entry, position)
            except Fault as fault:
                raise fault if fault.position is not None else Fault(str(fault), last + 1)
            except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
                raise Fault(f"the line is not an event ({type(error).__name__})", last + 1) from error
            last, events = position, events + 1
            if not is_whole:
                continue
            tree.append(leaf_hash(entry))
            while ahead and ahead[0].size <= tree.size:
                checkpoint = ahead.pop(0)
                need(checkpoint.size == tree.size, "the checkpoints are not in order", last)
                check_root(tree, checkpoint, sound)
                sound, checkpoints = tree.size, checkpoints + 1
        need(not ahead, "a checkpoint is beyond the entries of its part", last + 1)
        part += 1
    if is_whole:
        need(events == newest.size, f"the bundle has {events} entries, the checkpoint covers {newest.size}",
             min(events, newest.size))
        check_root(tree, newest, sound)
    need(events > 0, "the bundle has no entry")
    redacted = histories.settle()
    bundle.check_manifest(events, checkpoints)

    print(f"log          {newest.origin}, {newest.size} entries, "
          f"root {base64.b64encode(newest.root).decode()}")
    print(f"signed by    {' '.join(key.vkey for key in newest.signers)}")
    if not vkeys:
        print("             this key is the bundle's own: compare it with one from another source")
    print(f"scope        {'every entry' if is_whole else 'account ' + head['account']}")
    print(f"events       {events}, of {len(histories.tails)} accounts without a gap")
    print(f"checkpoints  {checkpoints} consistent")
    if unchecked:
        print(f"             the signatures of {unchecked} of them were not checked: see --signatures")
    if unsigned:
        print(f"             {unsigned} of them signed by keys that were not given")
    print(f"disclosures  {histories.disclosures}")
    if redacted:
        print(f"             {redacted} redacted: their accounts were erased")
    if histories.left_out:
        print(f"             {histories.left_out} left out: they are about other accounts")
    print(histories.conclusion())


def check_root(tree, checkpoint, sound):
    need(tree.root() == checkpoint.root,
         f"an entry from here to position {checkpoint.size - 1} is not what was signed: "
         f"the root over {checkpoint.size} entries differs", sound)


def main():
    parser = argparse.ArgumentParser(description="Verifies a bundle of AccountLedger.")
    parser.add_argument("--vkey", action="append", help="a key of the log from another source")
    parser.add_argument("--signatures", action="store_true",
                        help="check the signature of each checkpoint on the way, too")
    parser.add_argument("bundle", nargs="?", default=os.path.dirname(os.path.abspath(__file__)))
    arguments = parser.parse_args()
    try:
        verify(arguments.bundle, arguments.vkey, arguments.signatures)
    except (Fault, OSError, tarfile.TarError, AttributeError, KeyError, TypeError, ValueError,
            RecursionError) as error:
        print(f"DOES NOT HOLD: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
