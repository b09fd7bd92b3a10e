import Cryptography
import Encodings
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// The renewal of passwords and addresses with another encryption key.
@Suite struct RewrappingTests {
    private static let policy = RandomCommands.policy(hasEveryType: true)
    private static let next = SymmetricKey(Array(repeating: 0x5B, count: 32))
    private static let both = WrappingKeyring(
        currentID: "next", current: next,
        former: ["test": SymmetricKey(Array(repeating: 0x5A, count: 32))],
        macs: SequencerFixture.strictKeyring.macs)

    /// The names that `addressProof` gives to an address, and one by the next key.
    private static func names(_ text: String, _ kind: AddressKind) -> [AddressName] {
        [
            AddressName(kind: kind, digest: sha256(Array("next:\(text)".utf8)), key: "next"),
            AddressName(kind: kind, digest: sha256(Array(text.utf8)), key: "key"),
        ]
    }

    private func withPasswords(
        of addresses: [String], _ body: @Sendable (ScratchDatabase) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                var generator = SeededGenerator(seed: 1)
                for address in addresses {
                    let signUp = SignIn(address: address, password: "hash", &generator)
                    _ = try await fixture.submit(.signIn(signUp)).get()
                }
            }
            try await body(database)
        }
    }

    private func rewrap(_ database: ScratchDatabase) async throws -> RewrapReport {
        try await Rewrapping(url: database.ownerURL, keyring: Self.both) { text, kind, _ in
            Self.names(text, kind)
        }.run()
    }

    @Test func `after a rewrap passwords and addresses need the new key alone`() async throws {
        try await withPasswords(of: ["ada@example.com", "bob@example.com"]) { database in
            let report = try await rewrap(database)
            #expect(report.isComplete)
            #expect(report.rewrapped(.passwords) == 2 && report.rewrapped(.addresses) == 2)
            let keys = try await database.asSuperuser.texts(
                "SELECT DISTINCT key FROM (SELECT key_id FROM addresses UNION ALL SELECT wrapping_key FROM credentials) k (key)"
            )
            #expect(keys == ["next"])
            let digests = try await database.asSuperuser.texts(
                "SELECT encode(digest, 'hex') FROM addresses ORDER BY position")
            #expect(
                digests
                    == ["ada@example.com", "bob@example.com"].map {
                        Hex.encode(Self.names($0, .email)[0].digest.bytes)
                    })
            let verifier = Verifier(
                url: database.runtimeURL,
                keyring: WrappingKeyring(
                    currentID: "next", current: Self.next,
                    macs: SequencerFixture.strictKeyring.macs))
            let verified = try await verifier.run()
            await verifier.close()
            #expect(verified.holds, "\(verified.findings)")
            let again = try await rewrap(database)
            #expect(again == RewrapReport(), "nothing is left to renew")
        }
    }

    @Test(arguments: [
        "digest = sha256('other')", "mac = NULL", "position = position + 1",
        "account_id = (SELECT max(account_id::text)::uuid FROM accounts)",
    ])
    func `a changed address stays as it is and is reported`(_ change: String) async throws {
        try await withPasswords(of: ["ada@example.com", "bob@example.com"]) { database in
            let first = "(SELECT address_id FROM addresses ORDER BY position LIMIT 1)"
            try await database.asSuperuser.execute(
                "UPDATE addresses SET \(change) WHERE address_id = \(first)")
            let report = try await rewrap(database)
            #expect(report.rewrapped(.addresses) == 1 && report.rewrapped(.passwords) == 2)
            #expect(report.unreadable(.addresses).count == 1)
            #expect(
                try await database.asSuperuser.texts(
                    "SELECT key_id FROM addresses ORDER BY position") == ["key", "next"])
        }
    }

    @Test(arguments: ["sealed = sealed || '\\x00'", "mac = NULL", "version = version + 1"])
    func `a changed password stays as it is and is reported`(_ change: String) async throws {
        try await withPasswords(of: ["ada@example.com"]) { database in
            try await database.asSuperuser.execute("UPDATE credentials SET \(change)")
            let report = try await rewrap(database)
            #expect(report.rewrapped(.passwords) == 0 && report.rewrapped(.addresses) == 1)
            #expect(report.unreadable(.passwords).count == 1)
        }
    }

    @Test func `second factors are renewed, and changed ones reported`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { fixture in
                var generator = SeededGenerator(seed: 1)
                for name in ["ada", "bob"] {
                    let caller = try await fixture.signIn(subject("apple", name))
                    _ = try await fixture.submit(
                        .enrolFactor(EnrolFactor(by: caller, &generator))
                    ).get()
                }
            }
            let changed =
                "(SELECT factor_id FROM factors WHERE kind = 'totp' ORDER BY version LIMIT 1)"
            try await database.asSuperuser.execute(
                "UPDATE factors SET counter = counter + 1 WHERE factor_id = \(changed)")
            let report = try await rewrap(database)
            #expect(report.rewrapped(.factors) == 3)
            #expect(report.unreadable(.factors).count == 1)
            #expect(
                try await database.asSuperuser.texts(
                    "SELECT DISTINCT wrapping_key FROM factors ORDER BY 1") == ["next", "test"])
            let store = PostgresCredentialStore(
                url: database.runtimeURL,
                keyring: WrappingKeyring(
                    currentID: "next", current: Self.next,
                    macs: SequencerFixture.strictKeyring.macs),
                onFault: { Issue.record("\($0)") })
            let account = try await database.asSuperuser.texts(
                "SELECT account_id::text FROM factors ORDER BY version DESC LIMIT 1")
            let stored = try await store.factors(
                of: try #require(AccountID(account[0])), in: .default)
            #expect(stored.count == 2)
            await store.close()
        }
    }
}
