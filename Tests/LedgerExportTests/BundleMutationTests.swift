import Archive
import Cryptography
import Foundation
import Ledger
import LedgerExport
import Testing
import TransparencyLog

/// Modified bundles: each program refuses each, and report the first bad position.
@Suite struct BundleMutationTests {
    /// A change to the files of a bundle; a forger updates the manifest, an accident does not.
    struct Change: Sendable {
        let name: String
        var isResealed = true
        var isOfAccount = false
        /// The positions of which the first bad one is reported; nil when the change affects no
        /// entry.
        var positions: ClosedRange<Int64>?
        let change: @Sendable (inout BundleContents) throws -> Void
    }

    static let changes: [Change] = [
        Change(name: "a digit of an entry", positions: 21...23) {
            try $0.editEntry(23) { $0.replacing(".023000Z", with: ".023001Z") }
        },
        Change(name: "a type of an entry", positions: 21...23) {
            try $0.editEntry(23) { $0.replacing("SignedOut", with: "SignedIn0") }
        },
        Change(name: "an entry that states another position", positions: 23...23) {
            try $0.editEntry(23) {
                $0.replacing("\"position\":\"23\"", with: "\"position\":\"24\"")
            }
        },
        Change(name: "an entry left out", positions: 33...33) { try $0.removeLine(33) },
        Change(name: "the first entry left out", positions: 0...0) { try $0.removeLine(0) },
        Change(name: "the last entry left out", positions: 54...54) { try $0.removeLine(54) },
        Change(name: "two entries swapped", positions: 30...31) { try $0.swapLines(30, 31) },
        Change(name: "an entry twice", positions: 31...31) { try $0.doubleLine(30) },
        Change(name: "an extra entry", positions: 55...55) {
            try $0.addEntry(ExampleLog(count: 56))
        },
        Change(name: "a last part left out", positions: 40...40) {
            try $0.remove("entries/000002.jsonl")
            try $0.remove("checkpoints/000002.jsonl")
        },
        Change(name: "a part in the middle left out") { try $0.remove("entries/000001.jsonl") },
        Change(name: "the size of the bundle") {
            try $0.edit("bundle.json") { $0.replacing("\"55\"", with: "\"54\"") }
        },
        Change(name: "the root of the bundle") {
            try $0.edit("bundle.json") { text in
                text.replacing(
                    ExampleLog(count: 55).note(55).split(separator: "\n")[2], with: Self.root)
            }
        },
        Change(name: "the tenant of the bundle", positions: 0...0) {
            try $0.edit("bundle.json") {
                $0.replacing("default\",\"scope", with: "other\",\"scope")
            }
        },
        Change(name: "the scope of the bundle") {
            try $0.edit("bundle.json") { $0.replacing("\"all\"", with: "\"some\"") }
        },
        Change(name: "a bundle that discloses by a number") {
            try $0.edit("bundle.json") {
                $0.replacing("\"disclosed\":false", with: "\"disclosed\":0")
            }
        },
        Change(name: "a bundle of another format") {
            try $0.edit("bundle.json") { $0.replacing("@v1", with: "@v2") }
        },
        Change(name: "an empty head") { try $0.edit("bundle.json") { _ in "" } },
        Change(name: "a signature's last byte") {
            try $0.edit("checkpoint.txt") { $0.replacing(/.==\n$|..=\n$|...\n$/, with: "AA=\n") }
        },
        Change(name: "a checkpoint that another key has signed") {
            let log = ExampleLog(count: 55, seed: "forger")
            try $0.edit("checkpoint.txt") { _ in log.note(55) }
            try $0.edit("keys.txt") { _ in log.signer.verifier.vkey + "\n" }
        },
        Change(name: "an older checkpoint in place of the last") {
            let log = ExampleLog(count: 54)
            try $0.edit("checkpoint.txt") { _ in log.note(54) }
            try $0.edit("bundle.json") { text in
                text.replacing("\"55\"", with: "\"54\"").replacing(
                    ExampleLog(count: 55).note(55).split(separator: "\n")[2],
                    with: log.note(54).split(separator: "\n")[2])
            }
        },
        Change(name: "a checkpoint's root in the list") {
            try $0.edit("checkpoints/000001.jsonl") { text in
                text.replacing(
                    ExampleLog(count: 28).note(28).split(separator: "\n")[2], with: Self.root)
            }
        },
        Change(name: "a checkpoint of a fork in the list", positions: 21...27) {
            let log = ExampleLog(count: 28)
            let fork = Checkpoint(
                origin: log.signer.verifier.name, size: 28, root: ExampleLog(count: 27).roots[26])
            let note = fork.signed(by: [log.signer]).description
            try $0.edit("checkpoints/000001.jsonl") {
                $0.replacing(Self.quoted(log.note(28)), with: Self.quoted(note))
            }
        },
        Change(name: "two checkpoints of the list swapped", positions: 0...55) {
            try $0.edit("checkpoints/000001.jsonl") { text in
                text.split(separator: "\n").reversed().map { $0 + "\n" }.joined()
            }
        },
        Change(name: "a listed checkpoint of another log") {
            try $0.edit("checkpoints/000001.jsonl") {
                $0.replacing("ledger.example", with: "ledger.exampla")
            }
        },
        Change(name: "an older checkpoint's proof") {
            try $0.edit("consistency.jsonl") {
                $0.replacing(/"path":\["[^"]*"/, with: "\"path\":[\"\(Self.root)\"")
            }
        },
        Change(name: "an older checkpoint without proof") {
            try $0.edit("consistency.jsonl") { $0.replacing(/"path":\[.*\]/, with: "\"path\":[]") }
        },
        Change(name: "an older checkpoint's size") {
            try $0.edit("consistency.jsonl") { $0.replacing("\\n4\\n", with: "\\n5\\n") }
        },
        Change(name: "an older checkpoint of another log") {
            // An unknown signer alone is no fault of an older checkpoint.
            try $0.edit("consistency.jsonl") {
                $0.replacing("ledger.example", with: "ledger.exampla")
            }
        },
        Change(name: "an older checkpoint's signature") {
            try $0.edit("consistency.jsonl") {
                $0.replacing(/.==\\n"|..=\\n"|...\\n"/, with: "AA=\\n\"")
            }
        },
        Change(name: "a file changed by chance", isResealed: false) {
            try $0.edit("VERIFY.md") { $0.replacing("OpenSSL 3", with: "OpenSSL 1") }
        },
        Change(name: "a key added by chance", isResealed: false) {
            try $0.edit("keys.txt") {
                $0 + ExampleLog(count: 1, seed: "x").signer.verifier.vkey + "\n"
            }
        },
        Change(name: "no manifest", isResealed: false) { try $0.remove("manifest.json") },
        Change(name: "a malformed manifest", isResealed: false) {
            try $0.edit("manifest.json") { _ in "{}\n" }
        },
        Change(name: "an extra file", isResealed: false) { $0.add("notes.txt", "hello\n") },
        Change(name: "an extra file in the manifest") { $0.add("notes.txt", "hello\n") },
        Change(name: "an extra part in the manifest") {
            $0.add("entries/000009.jsonl", "{}\n")
        },
        Change(name: "extra checkpoints in the manifest", isOfAccount: true) {
            $0.add("checkpoints/000009.jsonl", "{}\n")
        },
        Change(name: "a file outside", isResealed: false) { $0.add("../../outside", "hello\n") },
        Change(name: "a file at the root", isResealed: false) { $0.add("/tmp/outside", "hello\n") },
        Change(name: "a duplicate file name", isResealed: false) { $0.add("keys.txt", "hello\n") },
        Change(name: "no files", isResealed: false) { $0.members = [] },
        Change(name: "a line that is not JSON", positions: 23...23) {
            try $0.editLine(23) { _ in "{" }
        },
        Change(name: "an empty line", positions: 23...23) { try $0.editLine(23) { _ in "" } },
        Change(name: "a line of deep nesting", positions: 23...23) {
            try $0.editLine(23) { _ in String(repeating: "[", count: 100_000) }
        },
        Change(name: "a line of two mebibytes") {
            try $0.editLine(23) { _ in String(repeating: " ", count: 2 << 20) }
        },
        Change(name: "a member twice", positions: 23...23) {
            try $0.editLine(23) {
                $0.replacing(
                    "{\"position\":\"23\"", with: "{\"position\":\"23\",\"position\":\"23\"")
            }
        },
        Change(name: "a position in another encoding", positions: 23...23) {
            try $0.editLine(23) { $0.replacing("\"23\"", with: "\"023\"") }
        },
        Change(name: "a position that is not a string", positions: 23...23) {
            try $0.editLine(23) { $0.replacing("\"23\"", with: "23") }
        },
        Change(name: "a position beyond all numbers", positions: 23...23) {
            try $0.editLine(23) { $0.replacing("\"23\"", with: "\"99999999999999999999\"") }
        },
        Change(name: "an entry in another encoding", positions: 23...23) {
            try $0.editLine(23) { $0.replacing("\"entry\":\"e", with: "\"entry\":\" e") }
        },
        Change(name: "a truncated file", isResealed: true) {
            try $0.edit("entries/000002.jsonl") { String($0.dropLast(9)) }
        },
        Change(name: "an unexpected disclosure", positions: 23...23) {
            try $0.editLine(23) { $0.replacing("\"}", with: "\",\"disclosures\":[\"WyJB\"]}") }
        },
        Change(name: "an account's event left out", isOfAccount: true, positions: 0...54) {
            try $0.removeLine(nth: 4)
        },
        Change(name: "two of an account's events left out", isOfAccount: true, positions: 0...54) {
            try $0.removeLine(nth: 4)
            try $0.removeLine(nth: 4)
        },
        Change(name: "an account's event twice", isOfAccount: true, positions: 0...54) {
            try $0.doubleLine(nth: 4)
        },
        Change(name: "an account's last event twice", isOfAccount: true, positions: 0...54) {
            try $0.doubleLastLine()
        },
        Change(name: "a disclosure left out", isOfAccount: true, positions: 0...54) {
            try $0.editLine(nth: 4) { line in
                line.replacing(/"disclosures":\[("[^"]*"),"[^"]*"\]/) {
                    "\"disclosures\":[\($0.output.1)]"
                }
            }
        },
        Change(name: "all disclosures of an event left out", isOfAccount: true, positions: 0...54) {
            try $0.editLine(nth: 4) {
                $0.replacing(/"disclosures":\["[^"]*","[^"]*"\],/, with: "")
            }
        },
        Change(name: "all disclosures left out", isOfAccount: true, positions: 0...54) {
            try $0.edit("entries/000000.jsonl") {
                $0.replacing(/"disclosures":\["[^"]*","[^"]*"\],/, with: "")
            }
        },
        Change(name: "an account's first event left out", isOfAccount: true, positions: 0...54) {
            try $0.removeLine(nth: 0)
        },
        Change(name: "an account's events swapped", isOfAccount: true, positions: 0...54) {
            try $0.swapLines(nth: 3, 4)
        },
        Change(name: "a digit of an account's entry", isOfAccount: true, positions: 0...54) {
            try $0.editLine(nth: 4) {
                $0.replacing(/"entry":"ey.{60}/) { $0.output.dropLast() + "A" }
            }
        },
        Change(name: "a sibling of a proof", isOfAccount: true, positions: 0...54) {
            try $0.editLine(nth: 4) {
                $0.replacing(/"path":\["[^"]*"/, with: "\"path\":[\"\(Self.root)\"")
            }
        },
        Change(name: "a proof left out", isOfAccount: true, positions: 0...54) {
            try $0.editLine(nth: 4) { $0.replacing(/,"path":.*\]/, with: "") }
        },
        Change(name: "a proof of a hundred hashes", isOfAccount: true, positions: 0...54) {
            let path = Array(repeating: "\"\(Self.root)\"", count: 100).joined(separator: ",")
            try $0.editLine(nth: 4) { $0.replacing(/"path":\[.*\]/, with: "\"path\":[\(path)]") }
        },
        Change(name: "a disclosure's byte", isOfAccount: true, positions: 0...54) {
            try $0.editLine(nth: 4) {
                $0.replacing("\"disclosures\":[\"WyJ", with: "\"disclosures\":[\"WyK")
            }
        },
        Change(name: "a disclosure twice", isOfAccount: true, positions: 0...54) {
            try $0.editLine(nth: 4) { line in
                line.replacing(/"disclosures":\[("[^"]*"),"[^"]*"\]/) {
                    "\"disclosures\":[\($0.output.1),\($0.output.1)]"
                }
            }
        },
        Change(name: "an event of another account", isOfAccount: true, positions: 0...54) {
            try $0.edit("bundle.json") { text in
                text.replacing(
                    ExampleLog.accounts[1].description, with: ExampleLog.accounts[2].description)
            }
        },
        Change(name: "no events", isOfAccount: true) {
            try $0.edit("entries/000000.jsonl") { _ in "" }
        },
        Change(name: "a checkpoint list where none belongs", isOfAccount: true, positions: 0...54) {
            let note = ExampleLog(count: 54).note(54)
            $0.insert(
                "checkpoints/000000.jsonl", "{\"note\":\(Self.quoted(note))}\n",
                before: "entries/000000.jsonl")
        },
    ]

    static let root = TreeHash.emptyRoot.description

    static func quoted(_ note: String) -> String {
        "\"" + note.replacing("\n", with: "\\n") + "\""
    }

    @Test(arguments: changes.indices)
    func `a change is refused by each program`(index: Int) throws {
        let change = Self.changes[index]
        let bundle = try ExampleBundle(
            ExampleLog(count: 60), size: 55,
            account: change.isOfAccount ? ExampleLog.accounts[1] : nil,
            isDisclosed: change.isOfAccount)
        _ = try bundle.verify()
        var contents = try BundleContents(path: bundle.path)
        let before = contents
        try change.change(&contents)
        #expect(contents.members.map(\.bytes) != before.members.map(\.bytes), "\(change.name)")
        try contents.write(to: bundle.path, isResealed: change.isResealed)
        let fault = #expect(throws: BundleFault.self, "\(change.name)") { try bundle.verify() }
        let answer = try bundle.verifyWithPython()
        let shown = try bundle.verifyWithPage()
        for answer in [answer, shown] {
            #expect(answer.hasPrefix("DOES NOT HOLD: "), "\(change.name): \(answer)")
        }
        guard let positions = change.positions, let fault else { return }
        #expect(fault.position.map(positions.contains) == true, "\(change.name): \(fault)")
        for answer in [answer, shown] {
            let named = answer.split(separator: " ").dropFirst(4).first.flatMap {
                Int64($0.dropLast())
            }
            #expect(named.map(positions.contains) == true, "\(change.name): \(answer)")
        }
    }

    @Test func `a link in a bundle is refused`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 9), size: 9)
        let made = try Shell.run(
            "cd $(mktemp -d) && ln -s /etc/passwd link && tar rf \(bundle.path) link")
        #expect(made.status == 0, "\(made.output)")
        #expect(throws: BundleFault.self) { try bundle.verify() }
        #expect(try bundle.verifyWithPython().hasPrefix("DOES NOT HOLD: "))
        #expect(try bundle.verifyWithPage().hasPrefix("DOES NOT HOLD: "))
    }

    @Test func `a file that is not a bundle is refused`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 3), size: 3)
        for bytes in [[], [0], Array("hello".utf8), [UInt8](repeating: 0xFF, count: 10_000)] {
            try Data(bytes).write(to: URL(fileURLWithPath: bundle.path))
            #expect(throws: BundleFault.self) { try bundle.verify() }
            #expect(try bundle.verifyWithPython().hasPrefix("DOES NOT HOLD: "))
            #expect(try bundle.verifyWithPage().hasPrefix("DOES NOT HOLD: "))
        }
        for path in ["/nonexistent", "/", "/dev/null"] {
            #expect(throws: BundleFault.self) {
                try BundleVerification(path: path, verifiers: nil).run()
            }
        }
    }

    @Test func `a truncated bundle is refused, wherever it ends`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 60), size: 55)
        let whole = try Data(contentsOf: URL(fileURLWithPath: bundle.path))
        let manifestEnd = try #require(whole.lastIndex(of: UInt8(ascii: "}")))
        for step in 0..<200 {
            let count = manifestEnd * step / 199
            try whole.prefix(count).write(to: URL(fileURLWithPath: bundle.path))
            #expect(throws: BundleFault.self, "cut after \(count)") { try bundle.verify() }
            if step % 40 == 0 {
                let answer = try bundle.verifyWithPython()
                #expect(answer.hasPrefix("DOES NOT HOLD: "), "cut after \(count): \(answer)")
            }
        }
    }

    /// Padding bits and times in headers have no meaning; every other bit is checked.
    @Test func `no bit of a file in a bundle can be flipped`() throws {
        let bundle = try ExampleBundle(ExampleLog(count: 60), size: 55)
        let good = try bundle.verify()
        let contents = try BundleContents(path: bundle.path)
        let whole = try Data(contentsOf: URL(fileURLWithPath: bundle.path))
        var accepted = 0
        for step in 0..<400 {
            var changed = whole
            changed[step * 7_919 % whole.count] ^= 1 << UInt8(step % 8)
            try changed.write(to: URL(fileURLWithPath: bundle.path))
            guard let report = try? bundle.verify() else { continue }
            accepted += 1
            #expect(report == good)
            // The text in the manifest is for people.
            let members = try BundleContents(path: bundle.path).members
            #expect(members.dropLast().map(\.bytes) == contents.members.dropLast().map(\.bytes))
        }
        #expect(accepted < 150)
    }
}
