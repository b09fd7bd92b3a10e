import ChildProcesses
import Cryptography
import Foundation
import Ledger
import LedgerExport
import TransparencyLog

/// A minimal, complete log of some accounts that sign in and link, with its checkpoints.
struct ExampleLog {
    static let accounts = (1...5).map { AccountID(bits: UInt128(0x0190) << 112 | UInt128($0)) }
    static let origin = "ledger.example/default"
    static let text = "=HYPERLINK(\"http://evil.example\")"

    let signer: NoteSigner
    private(set) var events: [ExportedEvent] = []
    private(set) var roots: [TreeHash] = []
    private(set) var stored: [TreeHash] = []
    private var tails: [AccountID: (next: Int64, leaf: Digest)] = [:]
    private var tree = CompactRange()

    /// Changes an entry's text before it is hashed and signed.
    private let forge: (Int64, String) -> String

    init(
        count: Int, seed: String = "log",
        forge: @escaping (Int64, String) -> String = { _, text in text }
    ) {
        self.forge = forge
        guard let key = Ed25519PrivateKey(seed: SHA256.hash(seed)),
            let name = NoteKeyName(Self.origin)
        else { preconditionFailure("a seed has 32 bytes") }
        signer = NoteSigner(name: name, privateKey: key)
        append(
            .ledgerOpened(LedgerOpened(mode: .development, encryptionKey: "e", tokenKey: "t")), [])
        while events.count < count {
            let position = events.count
            let account = Self.accounts[(position * position + position / 3) % 5]
            if tails[account] == nil {
                append(.accountOpened(AccountOpened(account: account)), [account])
            } else {
                append(
                    .signedOut(
                        SignedOut(
                            account: account, scope: .session,
                            session: SessionID(bits: UInt128(position)))), [account])
            }
        }
    }

    /// One account is refused an identity that another one holds.
    mutating func appendConflict(of caller: AccountID, with holder: AccountID) {
        guard let provider = ProviderName("google") else { preconditionFailure("a provider") }
        append(
            .conflictRejected(
                ConflictRejected(
                    account: caller, holder: holder, identity: IdentityID(bits: 7),
                    provider: provider, reason: .heldByOther)), [caller, holder])
    }

    /// An account is erased.
    mutating func appendErasure(of account: AccountID) {
        append(
            .accountErased(AccountErased(account: account, basis: .operator, survivor: account)),
            [account])
    }

    /// Appends a forged event without the account's key, which therefore discloses nothing.
    mutating func appendForgery(about account: AccountID) {
        append(
            .signedOut(
                SignedOut(account: account, scope: .session, session: SessionID(bits: 1))),
            [account], isDisclosing: false)
    }

    /// Returns the remaining disclosures of an event, in a bundle of an account or of all.
    func disclosures(
        of event: ExportedEvent, in account: AccountID?, size: Int
    ) -> [ExportedEvent.OpenDisclosure] {
        let owner = event.recorded.accounts.first?.id
        let isErased = events[..<size].contains { other in
            if case .accountErased(let fact) = other.recorded.event {
                fact.account == owner
            } else {
                false
            }
        }
        return isErased || account != nil && owner != account ? [] : event.disclosures
    }

    /// Returns the checkpoint of a size.
    func checkpoint(_ size: Int) -> Checkpoint {
        Checkpoint(
            origin: signer.verifier.name, size: Int64(size),
            root: size == 0 ? .emptyRoot : roots[size - 1])
    }

    func note(_ size: Int) -> String {
        checkpoint(size).signed(by: [signer]).description
    }

    func path(_ position: Int64, _ size: Int) throws -> [TreeHash] {
        let nodes = try InclusionProof.nodes(position: position, size: Int64(size))
        return nodes.path(nodes.indexes.map { stored[Int($0)] })
    }

    func consistency(_ old: Int, _ size: Int) throws -> [TreeHash] {
        let nodes = try ConsistencyProof.nodes(old: Int64(old), size: Int64(size))
        return nodes.path(nodes.indexes.map { stored[Int($0)] })
    }

    private mutating func append(
        _ event: Event, _ accounts: [AccountID], isDisclosing: Bool = true
    ) {
        let position = Int64(events.count)
        let usual = [
            Disclosure(.email, "p\(position)@example.org"), Disclosure(.userAgent, Self.text),
        ]
        let disclosures = (isDisclosing ? usual : []).map {
            (encoded: $0.encoded(salt: SHA256.hash("\(position)").dropLast(16)), disclosure: $0)
        }
        let digests = disclosures.compactMap { Digest(SHA256.hash($0.encoded)) }
            .sorted { $0.description < $1.description }
        let recorded = RecordedEvent(
            tenant: .default, position: LogPosition(position), id: EventID(bits: UInt128(position)),
            recordedAt: Timestamp(microseconds: 1_790_000_000_000_000 + position * 1_000),
            actor: .system, command: CommandID(bits: UInt128(position)), request: nil,
            accounts: accounts.map {
                AccountReference(
                    id: $0, previous: tails[$0]?.leaf, sequence: tails[$0]?.next ?? 0)
            }, disclosureDigests: accounts.isEmpty ? [] : digests, event: event)
        let text = String(decoding: EntryEncoding.encode(recorded), as: UTF8.self)
        let entry = Array(forge(position, text).utf8)
        let leaf = TreeHash.leaf(entry)
        tree.append(leaf, completing: &stored)
        roots.append(tree.root)
        for account in accounts {
            guard let digest = Digest(leaf.bytes) else { preconditionFailure("32 bytes") }
            tails[account] = ((tails[account]?.next ?? 0) + 1, digest)
        }
        events.append(
            ExportedEvent(
                recorded: recorded, entry: entry, disclosures: accounts.isEmpty ? [] : disclosures,
                path: nil))
    }
}

/// A bundle of an example log in a temporary file, deleted with the value.
final class ExampleBundle {
    let path: String
    let log: ExampleLog
    let size: Int

    /// Writes the whole log up to a size, with a checkpoint at regular intervals.
    init(
        _ log: ExampleLog, size: Int, account: AccountID? = nil, isDisclosed: Bool = false,
        every: Int = 7, partEvents: Int = 20, signedAs: Checkpoint? = nil
    ) throws {
        self.log = log
        self.size = size
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("bundle-\(UUID().uuidString).tar").path
        let head = BundleHead(
            tenant: .default, scope: account.map { .account($0) } ?? .all,
            checkpoint: signedAs ?? log.checkpoint(size), isDisclosed: isDisclosed)
        let older = try [1, 4].filter { $0 < size }.map {
            OlderCheckpoint(note: log.note($0), path: try log.consistency($0, size))
        }
        let note = (signedAs ?? log.checkpoint(size)).signed(by: [log.signer]).description
        let writer = try BundleWriter(
            path: path, head: head, note: note, keys: [log.signer.verifier.vkey], older: older)
        let events = try log.events[..<size].filter { event in
            account.map { id in event.recorded.accounts.contains { $0.id == id } } ?? true
        }.map { event in
            ExportedEvent(
                recorded: event.recorded, entry: event.entry,
                disclosures: isDisclosed
                    ? log.disclosures(of: event, in: account, size: size) : [],
                path: account == nil ? nil : try log.path(event.recorded.position.value, size))
        }
        for start in stride(from: 0, to: events.count, by: partEvents) {
            let end = min(start + partEvents, events.count)
            let sizes =
                account == nil ? (start + 1...end).filter { $0 % every == 0 || $0 == size } : []
            try writer.add(
                ExportedPart(
                    checkpoints: sizes.map { log.note($0) }, events: Array(events[start..<end])))
        }
        try writer.finish()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func verify(_ vkey: String? = nil) throws -> BundleReport {
        try BundleVerification(
            path: path,
            verifiers: [NoteVerifier(vkey ?? log.signer.verifier.vkey)].compactMap(\.self)
        ).run()
    }

    /// Verifies the bundle with its own program, as an auditor would; returns the last line of its
    /// output.
    func verifyWithPython(_ vkey: String? = nil, _ options: String = "") throws -> String {
        let output = try pythonOutput(vkey, options)
        let last = output.text.split(separator: "\n").last.map(String.init) ?? ""
        return output.status == 0 || last.hasPrefix("DOES NOT HOLD") ? last : output.text
    }

    /// Verifies the bundle with its page, without a browser; returns the line that it shows.
    func verifyWithPage(_ vkey: String? = nil) throws -> String {
        try VerificationPageRun.verify(path, vkey ?? log.signer.verifier.vkey)
    }

    /// Returns all output of the program in the bundle.
    func pythonOutput(
        _ vkey: String? = nil, _ options: String = ""
    ) throws -> (status: Int32, text: String) {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("python-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let program = directory.appendingPathComponent("verify.py")
        try Data(BundleWriter.pythonProgram).write(to: program)
        let answer = try Shell.run(
            "/usr/bin/python3 -I \(program.path) \(options) "
                + "--vkey '\(vkey ?? log.signer.verifier.vkey)' \(path)")
        return (status: answer.status, text: answer.output)
    }
}

/// Runs commands as typed in a shell.
enum Shell {
    static func run(_ script: String, in directory: String? = nil) throws -> (
        status: Int32, output: String
    ) {
        let (status, text) = try ChildProcess.run(
            "/bin/sh", ["-c", script], directory: directory)
        return (status: status, output: text)
    }
}
