internal import TransparencyLog

/// The text of `VERIFY.md`, which comes with every bundle.
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
            checkpoint of \(head.checkpoint.size) entries, and what proves that they are what the log recorded.

            \(head.completeness)

            Commands are for a shell in the directory that the bundle was unpacked to (`mkdir unpacked && tar xf
            BUNDLE -C unpacked && cd unpacked`). You need Python 3 and OpenSSL 3. Nothing here uses a program of
            the ledger; its own `account-ledger verify --offline BUNDLE --vkey YOUR_KEY` checks the same.

            ## What there is

            | File | Holds |
            |---|---|
            | `bundle.json` | what the bundle is about |
            | `checkpoint.txt` | the signed checkpoint: the log's name, its size, its root (C2SP tlog-checkpoint) |
            | `keys.txt` | the keys that the log says are its own, as C2SP verifier keys |
            | `consistency.jsonl` | older checkpoints, each with the proof that this one continues it (RFC 6962, 2.1.2) |
            | `entries/*.jsonl` | an event a line: its position, the exact bytes of its entry in base64\(more(head)) |
            | `checkpoints/*.jsonl` | in a bundle of the whole log: every checkpoint, beside the entries it ends with |
            | `manifest.json` | how long each file is, and its SHA-256 |

            ## 1. The key

            Everything rests on the key that signed. `YOUR_KEY` below stands for the log's verifier key as you know
            it from elsewhere: from the log's operator, from the last audit, or from `GET /v1/log/keys` of the
            service. It has the form `NAME+ID+BASE64`. These are the keys that the bundle brings along, and whoever
            made the bundle could have made them, too; yours has to be among them:

                cat keys.txt

            ## 2. The signature

            The signed text is what stands above the empty line. A verifier key is a name, an id, and the base64 of
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

            `verify.py` uses Python's standard library and the `openssl` command, and is short enough to be read
            first, as it should be: who could forge entries could forge the program beside them.

                python3 verify.py --vkey 'YOUR_KEY' .

            \(steps(head))

            ## 4. Some of it with Go

            `verify.go` uses `golang.org/x/mod/sumdb/note` and `golang.org/x/mod/sumdb/tlog`. It checks the signature,
            \(goSteps(head)), the position that each entry says, and `seq` and `prev` of
            each account. It does not check times, disclosures, older checkpoints and the manifest. With Debian's
            packages `golang-go` and `golang-golang-x-mod-dev`:

                GO111MODULE=off GOPATH=/usr/share/gocode go run verify.go . 'YOUR_KEY'

            ## Personal data

            An entry holds none, but digests of salted disclosures (`_sd`, RFC 9901). \(disclosures(head))

            """
    }

    private static func more(_ head: BundleHead) -> String {
        let proof = head.scope == .all ? "" : ", the proof that it is in the tree"
        return head.isDisclosed ? proof + ", its disclosures" : proof
    }

    private static func steps(_ head: BundleHead) -> String {
        let common = """
            - each entry says the position it stands at, and times never go back;
            - each account's `seq` counts 0, 1, 2 without a gap, and `prev` is the hash of its previous entry:
              the unpadded base64url of SHA-256 over a byte 00 and the entry;
            - each disclosure's base64url SHA-256 is one of the `_sd` of its entry\(missing(head));
            - this checkpoint continues those of `consistency.jsonl`, which bear the same log's name; how many of
              them no given key has signed is said;
            - each file is what the manifest says.

            The last line says what is complete by that. \(limit(head))
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
                - each entry is at its position of the tree that the checkpoint is of (RFC 6962, section 2.1.1);
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
            ? "Entries after the checkpoint are no part of it."
            : """
            Whoever made the bundle could have left out the last
            entries of the account, and nothing here would show it: compare with a bundle of the whole log.
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
            return "This bundle brings no disclosures, so it names nobody."
        }
        let brings =
            "This bundle brings the disclosures that were not destroyed: treat it as personal data."
        guard case .account = head.scope else { return brings }
        return brings + """

            They are about this account alone. Where an entry begins with another account, as when
            that one was refused an identity which this one holds, its disclosures are about the other one and
            are left out by rule.
            """
    }
}
