import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Synchronization
import Testing

@testable import LedgerAudit
@testable import LedgerPostgres

/// The MACs of API keys: a key that no holder of a MAC key has made grants nothing.
@Suite struct APIKeyMACTests {
    private static let changes = [
        "label = 'another'", "role = 'admin'", "secret_digest = decode(repeat('ab', 32), 'hex')",
        "created_at = created_at + interval '1 s'", "expires_at = NULL",
        "expires_at = expires_at + interval '1 day'", "mac = NULL",
        "mac = (SELECT mac FROM api_keys WHERE label = 'other')", "mac = '\\x00'",
    ]

    @Test(arguments: changes)
    func `a changed key is refused`(change: String) async throws {
        try await with { database, gate, faults, key in
            #expect(try await gate.key(key.id, in: .default) == key)
            try await database.asSuperuser.execute(
                "UPDATE api_keys SET \(change) WHERE label = 'l'")
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await gate.key(key.id, in: .default)
            }
            #expect(faults.texts.withLock(\.self).count == 1)
            #expect(try await gate.key(Self.key(8, "other").id, in: .default) != nil)
            let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.findings.map(\.check) == [.apiKeys], "\(report.findings)")
        }
    }

    @Test func `a revoked key cannot be restored`() async throws {
        try await with { database, gate, _, key in
            try await database.asOwner.with { connection in
                _ = try APIKeyStore(on: connection).revoke(key.id, of: .default)
            }
            #expect(try await gate.key(key.id, in: .default)?.revokedAt != nil)
            try await database.asSuperuser.execute("UPDATE api_keys SET revoked_at = NULL")
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await gate.key(key.id, in: .default)
            }
        }
    }

    @Test(arguments: ["protected_from = NULL", "protected_from = NULL, mac = NULL"])
    func `removing the protection of a tenant admits no key`(change: String) async throws {
        try await with { database, gate, _, key in
            try await database.asSuperuser.execute(
                "UPDATE api_keys SET mac = NULL; UPDATE ledger_head SET \(change)")
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await gate.key(key.id, in: .default)
            }
        }
    }

    @Test func `a key of an earlier release is valid until its tenant is protected`() async throws {
        try await with(isProtected: false) { database, gate, _, key in
            try await database.asSuperuser.execute(
                "UPDATE api_keys SET mac = NULL; UPDATE ledger_head SET mac = NULL")
            #expect(try await gate.key(key.id, in: .default) == key)
        }
    }

    private static func key(_ bits: UInt128, _ label: String) -> StoredAPIKey {
        StoredAPIKey(
            id: APIKeyID(bits: bits), role: .auditor, secretDigest: digest(Array(0..<32)),
            label: label, createdAt: Timestamp(seconds: 1),
            expiresAt: Timestamp(seconds: 2_000_000_000), revokedAt: nil)
    }

    /// Runs a body with a ledger with two keys and a running gate.
    private func with(
        isProtected: Bool = true,
        _ body: (ScratchDatabase, AccessGate, FaultTexts, StoredAPIKey) async throws
            -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: isProtected) { _ in }
            let key = Self.key(9, "l")
            try await database.asOwner.with { connection in
                let store = APIKeyStore(on: connection)
                for key in [key, Self.key(8, "other")] {
                    try store.add(key, to: .default, macKey: SequencerFixture.macKey)
                }
            }
            let faults = FaultTexts()
            let gate = AccessGate(
                url: database.runtimeURL, macs: SequencerFixture.keyring.macs
            ) { fault in faults.texts.withLock { $0.append(fault) } }
            let running = Task { await gate.run() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(database, gate, faults, key))
            } catch {
                result = .failure(error)
            }
            gate.close()
            await running.value
            try result.get()
        }
    }

    private final class FaultTexts: Sendable {
        let texts = Mutex<[String]>([])
    }
}
