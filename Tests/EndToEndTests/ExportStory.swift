import Cryptography
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

/// A checkpoint that a sealer would never have written.
enum Stray: Sendable {
    /// Signed by another key with the log's name.
    case forged
    /// Stored under a size other than its own.
    case ofAnotherSize
    /// Signed, but of another tree.
    case ofAnotherRoot
}

extension Stray {
    /// The size under which a checkpoint of four entries is stored, and its note.
    fileprivate func note(of root: TreeHash, by signer: NoteSigner) -> (Int64, String) {
        let name = signer.verifier.name
        func note(_ size: Int64, _ root: TreeHash, _ signer: NoteSigner) -> String {
            Checkpoint(origin: name, size: size, root: root).signed(by: [signer]).description
        }
        switch self {
        case .forged:
            return (4, note(4, root, NoteSigner(name: name, privateKey: .generate())))
        case .ofAnotherSize: return (4, note(1_000, root, signer))
        case .ofAnotherRoot: return (4, note(4, .emptyRoot, signer))
        }
    }
}

/// Signs people in and links, and can seal the log.
struct ExportStory {
    let ada: Device
    private(set) var events = 0
    private let session: Session

    /// Adopts an existing history.
    init(_ deployment: Deployment, ada: Device) {
        self.ada = ada
        session = Session(url: deployment.superuserURL, applicationName: "export test")
    }

    init(_ deployment: Deployment) async throws {
        let server = try await deployment.serve()
        var ada = Device(server.client)
        try await ada.signIn(deployment.apple, as: "ada", email: "ada@example.org")
        _ = try await ada.link(deployment.google, as: "ada", email: "ada@example.org")
        for name in ["ben", "cleo", "dora"] {
            var other = Device(server.client)
            try await other.signIn(deployment.google, as: name)
            _ = try await ada.link(deployment.google, as: name)
        }
        self.init(deployment, ada: ada)
        events = Int(try await number("SELECT count(*) FROM events"))
        let missing = """
            SELECT count(*) FROM projections
            WHERE name = 'account_audit' AND tenant_id = 'default' AND position < \(events)
            """
        let reads = self
        try await eventually("account_audit to be folded") {
            try await reads.number(missing) == 0 ? true : nil
        }
        try await server.stop()
    }

    func number(_ sql: String) async throws -> Int64 {
        try await session.run { try $0.query(Statement(sql, sql)).int8(0, 0) }
    }

    func run(_ script: String) async throws {
        try await session.run { try $0.execute(script) }
    }

    /// Writes the hashes and a checkpoint at regular sizes, as a sealer would; the last one excludes the
    /// last event.
    func seal(
        every: Int64, adding stray: Stray? = nil
    ) async throws -> (size: Int64, vkey: String) {
        let name = try #require(NoteKeyName("ledger.example/default"))
        let signer = NoteSigner(name: name, privateKey: .generate())
        let size = try await session.run { connection in
            let rows = try connection.query(
                Statement("entries", "SELECT entry FROM events ORDER BY position"))
            var (tree, stored) = (CompactRange(), [TreeHash]())
            for row in 0..<(rows.rowCount - 1) {
                tree.append(.leaf(try rows.bytes(row, 0)), completing: &stored)
                if let stray, tree.size == 4 {
                    let (kept, note) = stray.note(of: tree.root, by: signer)
                    _ = try connection.query(
                        Statement(
                            "stray",
                            "INSERT INTO checkpoints VALUES ('default', $1, $2, $3, $4, now())"),
                        [
                            .text(name.description), .int8(kept), .bytes(tree.root.bytes),
                            .text(note),
                        ])
                }
                guard tree.size % every == 0 || row == rows.rowCount - 2 else { continue }
                let checkpoint = Checkpoint(origin: name, size: tree.size, root: tree.root)
                _ = try connection.query(
                    Statement(
                        "checkpoint",
                        "INSERT INTO checkpoints VALUES ('default', $1, $2, $3, $4, now())"),
                    [
                        .text(name.description), .int8(tree.size), .bytes(tree.root.bytes),
                        .text(checkpoint.signed(by: [signer]).description),
                    ])
            }
            // Rows of other lengths than a sealer's are read as well.
            for start in stride(from: 0, to: stored.count, by: 10) {
                _ = try connection.query(
                    Statement("nodes", "INSERT INTO merkle_nodes VALUES ('default', $1, $2)"),
                    [
                        .int8(Int64(start)),
                        .bytes(stored[start..<min(start + 10, stored.count)].flatMap(\.bytes)),
                    ])
            }
            _ = try connection.query(
                Statement("key", "INSERT INTO checkpoint_keys VALUES ('default', $1, now())"),
                [.text(signer.verifier.vkey)])
            return tree.size
        }
        return (size: size, vkey: signer.verifier.vkey)
    }
}
