internal import TransparencyLog

/// The text of `VERIFY.md`, which is part of every bundle.
enum Instructions {
    static func text(of head: BundleHead) -> String {
        let about =
            switch head.scope {
            case .all: "every entry of the log"
            case .account(let account): "every entry that touches account \(account)"
            }
        return """
            # How to verify this bundle

            It holds \(about) `\(head.checkpoint.origin)` up to a signed
            checkpoint of \(head.checkpoint.size) entries, and the proofs that the log recorded them.

            \(head.completeness)

            Run the commands in a shell in the directory of the unpacked bundle (`mkdir unpacked && tar xf
            BUNDLE -C unpacked && cd unpacked`). They require Python 3 and OpenSSL 3, and no program of
            the ledger; its `account-ledger verify --offline BUNDLE --vkey YOUR_KEY` makes the same checks.

            ## Contents

            | File | Content |
            |---|---|
            | `bundle.json` | the description of the bundle |
            | `checkpoint.txt` | the signed checkpoint: the log's name, its size, its root (C2SP tlog-checkpoint) |
            | `keys.txt` | the keys that the log states as its own, as C2SP verifier keys |
            | `consistency.jsonl` | older checkpoints, each with the proof that this one extends it (RFC 6962, 2.1.2) |
            | `entries/*.jsonl` | one event per line: its position, the exact bytes of its entry in base64\(more(head)) |
            | `checkpoints/*.jsonl` | in a bundle of the whole log: every checkpoint, in the part of its last entry |
            | `verify.py`, `verify.go`, `verify.html` | programs that verify the bundle |
            | `manifest.json` | the length and the SHA-256 of each file |

            ## 1. The key

            Every check depends on the signing key. `YOUR_KEY` below is the log's verifier key as you know
            it from another source: from the log's operator, from the last audit, or from `GET /v1/log/keys` of the
            service. It has the form `NAME+ID+BASE64`. The keys in the bundle are not evidence, because the maker
            of the bundle could have made them, too; yours must be among them:

                cat keys.txt

            ## 2. The signature

            The signed text is the part above the empty line. A verifier key is a name, an id, and the base64 of
            a byte 01 and the 32 bytes of the key, with `+` between them.

                vkey='YOUR_KEY'
                sed '/^$/,$d' checkpoint.txt > text
                echo "$vkey" | cut -d + -f 3- | base64 -d | tail -c 32 > key
                (printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'; cat key) > key.der
                id=$(echo "$vkey" | cut -d + -f 2)
                sed '1,/^$/d' checkpoint.txt | while read -r _ _ s; do
                  if [ "$(echo "$s" | base64 -d | head -c 4 | od -An -tx1 | tr -d ' \\n')" = "$id" ]; then
                    echo "$s" | base64 -d | tail -c 64 > signature; fi; done
                openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in text -sigfile signature
                rm text key key.der signature

            ## 3. Everything else

            `verify.py` uses Python's standard library and the `openssl` command, and is short enough to read
            first. Do so: someone who can forge entries can forge the program beside them.

                python3 verify.py --vkey 'YOUR_KEY' .

            \(steps(head))

            ## 4. A partial check with Go

            `verify.go` uses `golang.org/x/mod/sumdb/note` and `golang.org/x/mod/sumdb/tlog`. It checks the signature,
            \(goSteps(head)), the position that each entry states, and `seq` and `prev` of
            each account. It does not check times, disclosures, older checkpoints and the manifest. With Debian's
            packages `golang-go` and `golang-golang-x-mod-dev`:

                GO111MODULE=off GOPATH=/usr/share/gocode go run verify.go . 'YOUR_KEY'

            ## 5. In a browser

            `verify.html` is opened from the disk, needs no connection and no server, and reads the bundle's tar file
            or directory that is chosen in it. It makes the checks of step 3, and checks the signature of every
            checkpoint. Its source is readable; here, too, a forger can have changed it.

            ## Personal data

            An entry holds only digests of salted disclosures (`_sd`, RFC 9901). \(disclosures(head))

            """
    }

    private static func more(_ head: BundleHead) -> String {
        let proof = head.scope == .all ? "" : ", the proof that it is in the tree"
        return head.isDisclosed ? proof + ", its disclosures" : proof
    }

    private static func steps(_ head: BundleHead) -> String {
        let common = """
            - each entry states its own position, and times never go back;
            - each account's `seq` is 0, 1, 2 and so on without a gap, and `prev` is the hash of its previous entry:
              the unpadded base64url of SHA-256 over a byte 00 and the entry;
            - each disclosure's base64url SHA-256 is one of the `_sd` of its entry\(missing(head));
            - this checkpoint extends those of `consistency.jsonl`, which have the same log's name; the number of
              those that no given key has signed is printed;
            - each file matches the manifest.

            The last line states the completeness that this proves. \(limit(head))
            """
        switch head.scope {
        case .all:
            return """
                It checks that
                - the entries have the positions 0, 1, 2 ... and the Merkle tree over them (RFC 6962, section 2.1)
                  has the signed root at every checkpoint; where one differs, it names the positions in between
                  (the roots in `checkpoints/` are compared; their signatures only with `--signatures`, which
                  starts `openssl` for each of them);
                \(common)
                """
        case .account:
            return """
                It checks that
                - each entry is at its position of the checkpoint's tree (RFC 6962, section 2.1.1);
                \(common)
                """
        }
    }

    private static func goSteps(_ head: BundleHead) -> String {
        head.scope == .all
            ? "the root over all entries" : "the proof that each entry is in the tree"
    }

    private static func limit(_ head: BundleHead) -> String {
        head.scope == .all
            ? "Entries after the checkpoint are not covered."
            : """
            The maker of the bundle could have omitted the last
            entries of the account, and no check here would show it: compare with a bundle of the whole log.
            """
    }

    private static func missing(_ head: BundleHead) -> String {
        guard head.isDisclosed else { return "" }
        return head.scope == .all
            ? """
            , and where one
              is missing, an `AccountErased` of the entry's first account is there: it is `redacted`; else it is
              `WITHHELD`, and the program ends with 1
            """
            : """
            , and where one
              is missing in an entry that begins with this account, an `AccountErased` of it is there: it is
              `redacted`; else it is `WITHHELD`, and the program ends with 1
            """
    }

    private static func disclosures(_ head: BundleHead) -> String {
        guard head.isDisclosed else {
            return "This bundle has no disclosures, so it identifies no person."
        }
        let statement =
            "This bundle has the disclosures that were not destroyed: treat it as personal data."
        guard case .account = head.scope else { return statement }
        return statement + """

            They are about this account alone. When an entry begins with another account, as when
            that account was refused an identity of this one, its disclosures are about the other account and
            are omitted by rule.
            """
    }
}
