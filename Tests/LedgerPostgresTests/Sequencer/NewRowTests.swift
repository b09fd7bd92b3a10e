import Ledger
import LedgerTestSupport
import Testing

/// New rows are inserted in their final form: a later update in the same batch would cost as much again.
@Suite struct NewRowTests {
    @Test(arguments: ["accounts", "identities", "sessions"])
    func `a sign-up writes each of its rows once`(table: String) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                try await fixture.open(.default)
                for name in ["ada", "grace"] {
                    _ = try await fixture.signIn(subject("apple", name))
                }
                // Each version of a row has its own place in the table.
                #expect(
                    try await database.rows("ctid::text]) FROM \(table) ORDER BY ctid")
                        == ["(0,1)", "(0,2)"])
            }
        }
    }
}
