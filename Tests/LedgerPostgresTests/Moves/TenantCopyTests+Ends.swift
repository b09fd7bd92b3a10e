import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The ways in which a move ends, and the rows that it leaves.
extension TenantCopyTests {
    @Test func `a tenant that was stopped is served again without the other place`() async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let copy = try Sides(fixture.database, other)
                try copy.run.stop()
                let gone = PostgresError.connectionFailed("it is gone")
                func abandon(mayBeGone: Bool) throws -> Bool {
                    try TenantCopy.abandon(
                        .default, from: copy.source, to: { throw gone }, run: 7,
                        mayBeGone: mayBeGone)
                }
                // It may be a wrong password.
                #expect(throws: PostgresError.self) { try abandon(mayBeGone: false) }
                #expect(try !abandon(mayBeGone: true))
                #expect(throws: TenantCopyFault.superseded) { try copy.run.markMoved() }
                // It answers, but has nothing of the tenant.
                try copy.run.stop()
                try await other.asSuperuser.execute("DELETE FROM tenant_moves")
                #expect(try copy.abandon(run: 8))
                #expect(throws: TenantCopyFault.superseded) { try copy.run.markMoved() }
                _ = try await fixture.sequencer.signIn(carol)
            }
        }
    }

    @Test func `a discard ends the copy that is under way there`() async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let copy = try Sides(fixture.database, other)
                try copy.run.stop()
                try copy.run.copyRest()
                try copy.run.markMoved()
                try TenantDiscard.run(.default, on: copy.target, run: 9)
                #expect(throws: TenantCopyFault.superseded) { try copy.run.activate() }
                let next = try Sides(fixture.database, other)
                #expect(try next.run.isMoved)
                try next.run.copyRest()
                try next.run.activate()
                #expect(try await report(other) == report(fixture.database))
            }
        }
    }

    // Unknown after a crash between the two databases, and after a restore of the stop.
    @Test(arguments: [
        ("UPDATE tenant_moves SET run = gen_random_uuid()", TenantCopyFault.unfinished),
        ("UPDATE tenant_moves SET state = 'leaving'", TenantCopyFault.notMoved),
    ])
    func `the rows here are kept until the other place is known to serve the tenant`(
        loss: String, fault: TenantCopyFault
    ) async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let copy = try Sides(fixture.database, other)
                let discard = { try TenantDiscard.run(.default, on: copy.source, run: 9) }
                try copy.run.stop()
                try copy.run.copyRest()
                try copy.run.markMoved()
                #expect(throws: TenantCopyFault.unfinished) { try discard() }
                try copy.run.activate()
                try await fixture.database.asSuperuser.execute(loss)
                #expect(throws: fault) { try discard() }
                #expect(throws: TenantCopyFault.active) { _ = try Sides(fixture.database, other) }
                try discard()
                _ = try await report(other)
            }
        }
    }

    @Test(arguments: [
        "UPDATE tenant_moves SET run = gen_random_uuid()",
        "UPDATE tenant_moves SET state = 'leaving'",
    ])
    func `a former place is discarded, too, once the other one has moved the tenant on`(
        loss: String
    ) async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                try await ScratchDatabase.with { third in
                    for (from, to) in [(fixture.database, other), (other, third)] {
                        let copy = try Sides(from, to)
                        try copy.run.stop()
                        try copy.run.copyRest()
                        try copy.run.markMoved()
                        try copy.run.activate()
                    }
                    try await fixture.database.asSuperuser.execute(loss)
                    let ends = try Sides(fixture.database, other, copies: false)
                    try TenantDiscard.run(.default, on: ends.target, run: 8)
                    #expect(throws: TenantCopyFault.self) {
                        try TenantDiscard.run(.default, on: ends.source, run: 9)
                    }
                    #expect(throws: TenantCopyFault.active) {
                        _ = try Sides(fixture.database, other)
                    }
                    try TenantDiscard.run(.default, on: ends.source, run: 9)
                    _ = try await report(third)
                }
            }
        }
    }

    // From before the move, and from the stop, as a promoted standby may be.
    @Test(arguments: [
        ("DELETE FROM tenant_moves", TenantCopyFault.notMoved),
        ("UPDATE tenant_moves SET state = 'leaving'", TenantCopyFault.active),
    ])
    func `a former place that was restored is marked again, and no other one`(
        restore: String, fault: TenantCopyFault
    ) async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let copy = try Sides(fixture.database, other)
                #expect(throws: TenantCopyFault.notThere) { try copy.markAgain() }
                try copy.run.stop()
                try copy.run.copyRest()
                try copy.run.markMoved()
                try copy.run.activate()
                try await SequencerFixture.with(other, opensLedger: false) { there in
                    _ = try await there.signIn(carol)
                }
                try await fixture.database.asSuperuser.execute(restore)
                #expect(throws: fault) { try copy.abandon(run: 6) }
                let back = try Sides(other, fixture.database, copies: false)
                #expect(throws: TenantCopyFault.notThere) { try back.markAgain() }
                try copy.markAgain()
                await #expect(throws: LedgerFault.tenantMoved) {
                    try await fixture.sequencer.open(.default)
                }
                #expect(throws: TenantCopyFault.active) { _ = try Sides(fixture.database, other) }
                // Also while the read models differ.
                try await other.asSuperuser.execute(
                    "UPDATE projection_tables SET version = version + 1")
                try copy.markAgain()
            }
        }
    }

    @Test func `a discard leaves the log, and no personal data`() async throws {
        try await ErasureFixture.with { fixture in
            let owner = fixture.database.asSuperuser
            let connection = try Connection(
                url: fixture.database.ownerURL, applicationName: "a test")
            #expect(throws: TenantCopyFault.notMoved) {
                try TenantDiscard.run(.default, on: connection, run: 1)
            }
            #expect(try await !fixture.database.tables(holding: "subject-of-ada").isEmpty)
            try await owner.execute(Self.mark("default", "moved"))
            try await owner.execute("UPDATE tenant_moves SET run = repeat('0', 32)::uuid")
            try TenantDiscard.run(.default, on: connection, run: 1)
            try TenantDiscard.run(.default, on: connection, run: 2)
            for text in ErasureFixture.adasData where text != "a test" {
                #expect(try await fixture.database.tables(holding: text) == [], "\(text)")
            }
            #expect(try await owner.texts("SELECT state FROM tenant_moves") == ["discarded"])
            #expect(try await owner.texts("SELECT 'x' FROM events").count > 5)
            let kept = ["accounts", "account_keys", "disclosures", "sessions", "identities"]
            for table in kept {
                #expect(try await owner.texts("SELECT 'x' FROM \(table)") == [], "\(table)")
            }
            await #expect(throws: LedgerFault.tenantMoved) {
                try await fixture.sequencer.open(.default)
            }
        }
    }
}
