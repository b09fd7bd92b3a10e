import Ledger
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

@testable import LedgerEngine
@testable import LedgerPostgres

/// Several logs on one sealer: none waits for another, and none is affected by another's failure.
@Suite struct SealingFairnessTests {
    /// A tenant before `default`.
    private let first = tenant("acme")

    private func with(
        _ body: (SealingFixture, PostgresSealerStore) async throws -> Void
    ) async throws {
        try await SealingFixture.with { fixture, ledger in
            try await ledger.open(first)
            var story = Story(ledger.sequencer, tenant: first, seed: 7)
            try await story.people(0..<8)
            var other = Story(ledger.sequencer)
            try await other.people(0..<1)
            let store = fixture.store()
            try await body(fixture, store)
            await store.release()
            await store.close()
        }
    }

    private func sealing(_ fixture: SealingFixture, _ store: any SealerStore) -> LogSealing {
        var limits = SealingLimits()
        limits.pageMax = 3
        limits.signedMax = 5
        return LogSealing(store: store, record: fixture.record, limits: limits)
    }

    @Test func `a long log is signed a checkpoint at a time, and the others in between`()
        async throws
    {
        try await with { fixture, store in
            var sealing = sealing(fixture, store)
            var beats = 0
            let round = try await sealing.round(beat: { beats += 1 })
            #expect(round.signed == [first: 5, .default: 4] && round.hasMore)
            #expect(beats == 2)
            for size in [Int64(10), 15, 20, 25] {
                let next = try await sealing.round()
                #expect(next.signed == [first: size, .default: 4])
                #expect(next.publishedCount == 1 && next.hasMore == (size < 25))
            }
            #expect(try await sealing.round().publishedCount == 0)
        }
    }

    @Test func `after a restore the log is reread a part at a time`() async throws {
        try await with { fixture, store in
            var sealing = sealing(fixture, store)
            while try await sealing.round().hasMore {}
            _ = try fixture.record.beginNewOrigin(of: first)
            var other = self.sealing(fixture, store)
            for _ in 0..<4 {
                let round = try await other.round()
                #expect(round.publishedCount == 0 && round.hasMore)
                #expect(round.signed == [first: 0, .default: 4])
            }
            let last = try await other.round()
            #expect(last.publishedCount == 1 && !last.hasMore)
            #expect(last.signed[first] == 25)
        }
    }

    /// Statements that make the database fail on one log alone, and their reversal.
    static let troubles = [
        (
            "DROP TRIGGER never ON merkle_nodes",
            """
            CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'XX001'; END $$;
            CREATE TRIGGER never BEFORE INSERT ON merkle_nodes FOR EACH ROW
                WHEN (NEW.tenant_id = 'acme') EXECUTE FUNCTION never()
            """
        ),
        (
            "DELETE FROM checkpoints",
            """
            ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
            ALTER TABLE checkpoints DROP CONSTRAINT checkpoints_root_check;
            INSERT INTO checkpoint_keys VALUES ('acme', 'ledger.example/test/acme+x', now());
            INSERT INTO checkpoints VALUES
                ('acme', 'ledger.example/test/acme', 3, '\\x00', 'note', now())
            """
        ),
    ]

    @Test(arguments: 0..<troubles.count)
    func `a log on which the database fails is refused, and the others are signed`(
        number: Int
    ) async throws {
        let (mend, trouble) = Self.troubles[number]
        try await with { fixture, store in
            _ = try fixture.record.logState(of: first, mayBegin: true)
            try await fixture.tamper(trouble)
            var sealing = sealing(fixture, store)
            let round = try await sealing.round()
            #expect(round.signed == [.default: 4])
            guard case .databaseFails = round.refusals[first] else {
                Issue.record("\(round.refusals)")
                return
            }
            try await fixture.tamper(
                "ALTER EVENT TRIGGER ledger_guard_drop DISABLE; \(mend);"
                    + "DELETE FROM checkpoint_keys WHERE tenant_id = 'acme'")
            #expect(try await sealing.round().signed == [first: 5, .default: 4])
        }
    }

    @Test func `an erasure is recorded though the log is refused`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            let ada = try await story.signIn("apple", "ada")
            try await fixture.sealOnce()
            let other = try fixture.record.lastSigned(of: .default)
            let store = fixture.store()
            var sealing = LogSealing(store: store, record: fixture.record)
            _ = try await story.erase(ada.account).get()
            try await story.people(0..<2)
            for _ in 0..<2 {
                let round = try await sealing.round(isRefused: { _ in true })
                #expect(round.publishedCount == 0)
                #expect(try fixture.record.erasures(of: .default).map(\.account) == [ada.account])
            }
            #expect(try fixture.record.lastSigned(of: .default) == other)
            await store.release()
            await store.close()
        }
    }

    @Test func `failures are distinguished by whether they last`() {
        func judge(_ state: String) -> StoreFailure? {
            StoreFailure(
                PostgresError.server(
                    ServerError(state: SQLState(rawValue: state), severity: "ERROR", message: "x")))
        }
        for state in ["57P01", "57P03", "08006", "25006"] { #expect(judge(state) == .unavailable) }
        for state in ["55P03", "57014", "40001", "53100"] {
            #expect(judge(state) == .temporary("ERROR \(state): x"))
        }
        for state in ["XX001", "42501", "22P03", "58030"] {
            #expect(judge(state) == .permanent("ERROR \(state): x"))
        }
        for error in [PostgresError.timedOut, .connectionLost("x"), .connectionFailed("x")] {
            #expect(StoreFailure(error) == .unavailable)
        }
        #expect(StoreFailure(PostgresError.unexpectedResult("x")) != .unavailable)
        #expect(StoreFailure(Unexpected(what: "x")) == nil)
    }
}
