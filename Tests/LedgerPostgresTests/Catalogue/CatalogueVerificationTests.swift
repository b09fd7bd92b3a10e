import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// `verify` finds another value in every column that the catalogue calls verified or authenticated.
@Suite struct CatalogueVerificationTests {
    static let tables = Catalogue.tables.filter {
        !$0.columns(.verified).isEmpty || !$0.columns(.mac).isEmpty
    }.map(\.name)

    @Test(arguments: tables)
    func `verify compares every column that it has to`(name: String) async throws {
        let table = try #require(Catalogue.tables.first { $0.name == name })
        let relation = table.isReadModel ? "\(name)_1" : name
        try await PreparedLedger.with { ledger in
            try await ledger.copy()
            try await addRareRows(to: ledger)
            #expect(try await findings(ledger) == [])
            for column in table.columns
            where !column.attributes.isDisjoint(with: [.verified, .mac]) {
                try await ledger.copied.lift(
                    """
                    CREATE TABLE kept_rows AS TABLE \(relation);
                    UPDATE \(relation) SET \(column.name) = \(Self.otherValue(of: column, in: name))
                    """)
                #expect(try await findings(ledger) != [], "\(name).\(column.name) is not compared")
                try await ledger.copied.lift(
                    """
                    DELETE FROM \(relation); INSERT INTO \(relation) SELECT * FROM kept_rows;
                    DROP TABLE kept_rows
                    """)
            }
            #expect(try await findings(ledger) == [])
        }
    }

    /// Returns an expression for another value of the same type.
    private static func otherValue(of column: CatalogueColumn, in table: String) throws -> String {
        let name = column.name
        if table == "api_keys", name == "role" { return "'admin'" }
        if table == "addresses", name == "kind" { return "'phone'" }
        if table == "factors", name == "kind" {
            return "CASE kind WHEN 'totp' THEN 'recovery_codes' ELSE 'totp' END"
        }
        return switch column.type {
        case "bigint", "integer", "smallint": "coalesce(\(name), 0) + 1000"
        case "uuid": "gen_random_uuid()"
        case "text": "coalesce(\(name), '') || 'x'"
        case "timestamp with time zone": "coalesce(\(name), now()) + interval '1 s'"
        case "bytea": "coalesce(set_byte(\(name), 0, get_byte(\(name), 0) # 1), sha256('x'))"
        case "boolean": "NOT coalesce(\(name), false)"
        case "text[]": "array_append(\(name), 'x')"
        case "uuid[]": "array_append(\(name), gen_random_uuid())"
        default: throw Unexpected(what: "a value of type \(column.type)")
        }
    }

    private static var rulesForTwo: TenantPolicy {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.eraseNeedsTwo = true
        return policy
    }

    /// Erases an account, asks for the erasure of another one, records rules, confirms an address, sets a password and enrols a second
    /// factor.
    private func addRareRows(to ledger: PreparedLedger) async throws {
        let database = ledger.database
        try await SequencerFixture.with(database, isProtected: true, opensLedger: false) {
            var story = Story($0.sequencer, seed: 77)
            try await story.erase(ledger.guests[ledger.guests.count - 1].account)
            let rules = SetRules(
                RandomCommands.policy(hasEveryType: true), condition: .withoutLockOuts)
            _ = try await story.submit(.setRules(rules)).get()
            var generator = SeededGenerator(seed: 78)
            _ = try await story.submit(
                .signIn(SignIn(address: "gus@example.com", &generator))
            ).get()
            _ = try await story.submit(
                .signIn(SignIn(address: "pat@example.com", password: "hash", &generator))
            ).get()
            let imported = ImportAccount(
                externalName("sam"),
                identities: [
                    .init(subject("google", "sam"), email: nil, newID: IdentityID(bits: 81))
                ], addresses: [], actor: .system, newAccount: AccountID(bits: 82))
            _ = try await story.submit(imported.intent).get()
            let kim = try await $0.signIn(subject("apple", "kim"))
            _ = try await story.submit(
                .setRules(SetRules(Self.rulesForTwo, condition: .withoutLockOuts))
            ).get()
            _ = try await story.submit(
                .eraseAccount(
                    EraseAccount(
                        account: kim.account, basis: .retention, agreement: .named,
                        step: .ask(ErasureRequestID(bits: 5), reason: "case 1", sha256),
                        actor: .principal(Principal(staff: StaffID(bits: 6), role: .admin))))
            ).get()
            _ = try await story.submit(.enrolFactor(EnrolFactor(by: kim, &generator))).get()
        }
        try await database.fold()
        try await database.destroy()
    }

    private func findings(_ ledger: PreparedLedger) async throws -> [VerificationFinding] {
        let verifier = Verifier(
            url: ledger.database.runtimeURL, keyring: SequencerFixture.strictKeyring)
        let report = try await verifier.run()
        await verifier.close()
        return report.findings
    }
}
