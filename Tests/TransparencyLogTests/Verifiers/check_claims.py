"""Checks claims about trees with rekor-verifier, which is not ours.

    check_claims.py CLAIMS

Each line of the file is a claim as JSON; "valid" says whether it has to hold. Prints how many claims
of each kind it found to be what they say, and ends with 1 at the first one that is not.
"""

import base64
import json
import sys
from collections import Counter

from rekor_verifier.merkle_proof import DEFAULT_HASHER, verify_consistency, verify_inclusion


def holds(claim):
    kind = claim["kind"]
    try:
        if kind == "inclusion":
            leaf = DEFAULT_HASHER.hash_leaf(base64.b64decode(claim["entry"]))
            verify_inclusion(
                DEFAULT_HASHER, claim["position"], claim["size"], leaf.hex(), claim["path"],
                claim["root"])
        else:
            verify_consistency(
                DEFAULT_HASHER, claim["old"], claim["size"], claim["path"], claim["old_root"],
                claim["root"])
        return True
    except Exception:
        return False


counts = Counter()
with open(sys.argv[1], encoding="utf-8") as claims:
    for number, line in enumerate(claims, 1):
        claim = json.loads(line)
        if claim["kind"] not in ("inclusion", "consistency"):
            continue
        if holds(claim) != claim["valid"]:
            sys.exit(f"claim {number} is not what it says: {line.strip()}")
        counts[claim["kind"], claim["valid"]] += 1
for (kind, valid), count in sorted(counts.items()):
    print(kind, "valid" if valid else "invalid", count)
