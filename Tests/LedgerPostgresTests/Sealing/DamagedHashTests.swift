import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

extension TamperingTests {
    /// Signed hashes that are missing concern the log, however many are left; a rest of a tree does not.
    @Test func `missing signed hashes are told from part of a tree after them`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.tamper(
                "INSERT INTO merkle_nodes VALUES ('default', 53, decode(repeat('00', 64), 'hex'))")
            let added = try await fixture.sealOnce()
            #expect(added.refusals == [.default: .hashesDamaged])
            try await fixture.tamper(
                """
                DELETE FROM merkle_nodes WHERE first_index >= 53;
                UPDATE merkle_nodes SET hashes = substr(hashes, 1, octet_length(hashes) - 32)
                WHERE first_index = (SELECT max(first_index) FROM merkle_nodes)
                """)
            let removed = try await fixture.sealOnce()
            #expect(removed.refusals == [.default: .hashesTruncated(signed: 28)])
        }
    }
}
