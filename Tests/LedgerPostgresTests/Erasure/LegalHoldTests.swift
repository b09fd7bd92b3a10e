import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing

/// Holds prevent erasure, also against concurrent commands.
@Suite struct LegalHoldTests {
    @Test func `a hold refuses an erasure until the last one is lifted`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            let account = fixture.ada.account
            guard case .holdSet(let first) = try await story.hold(account).get(),
                case .holdSet(let second) = try await story.hold(account).get()
            else { throw Unexpected(what: "no holds") }
            #expect(try await story.erase(account) == .failure(.legalHold))
            // Other commands of the account do not affect the holds.
            _ = try await story.signIn("apple", "subject-of-ada")
            #expect(try await story.lift(first, of: account) == .success(.holdLifted))
            #expect(try await story.erase(account) == .failure(.legalHold))
            #expect(try await story.lift(first, of: account) == .failure(.unknownHold))
            #expect(try await story.lift(second, of: fixture.bob.account) == .failure(.unknownHold))
            try await fixture.settle()
            let report = try await fixture.verify()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            try await fixture.database.asSuperuser.execute(
                "UPDATE accounts SET legal_holds = NULL")
            let damaged = try await fixture.verify()
            #expect(damaged.findings.first?.check == .accounts, "\(damaged.findings)")
            try await fixture.database.asSuperuser.execute(
                """
                UPDATE accounts SET legal_holds = ARRAY['\(second)']::uuid[]
                WHERE account_id = '\(account)'
                """)
            #expect(try await story.lift(second, of: account) == .success(.holdLifted))
            guard case .erased(_, isNew: true, _) = try await story.erase(account).get() else {
                throw Unexpected(what: "not erased")
            }
            try await fixture.settle()
            #expect(try await fixture.verify().holds)
        }
    }

    @Test func `the number of an account's holds is limited`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            for _ in 0..<SetLegalHold.holdsMax {
                _ = try await story.hold(fixture.ada.account).get()
            }
            #expect(try await story.hold(fixture.ada.account) == .failure(.tooManyHolds))
        }
    }

    @Test func `of a concurrent hold and erasure exactly one succeeds`() async throws {
        try await ErasureFixture.with { fixture in
            try await SequencerFixture.with(fixture.database) { other in
                var story = fixture.story
                var guests: [Guest] = []
                for number in 0..<40 {
                    guests.append(try await story.signIn("apple", "racer-\(number)"))
                }
                let outcomes = await withTaskGroup { group in
                    for guest in guests {
                        group.addTask {
                            var here = fixture.story
                            var there = Story(other.sequencer, seed: .random(in: 2...(.max)))
                            async let erased = here.erase(guest.account)
                            async let held = there.hold(guest.account)
                            return (try? await erased, try? await held)
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                for (erased, held) in outcomes {
                    switch (erased, held) {
                    case (.success(.erased), .failure(.accountErased)),
                        (.failure(.legalHold), .success(.holdSet)):
                        break
                    default: Issue.record("both or none: \(erased as Any), \(held as Any)")
                    }
                }
                try await fixture.settle()
                let report = try await fixture.verify()
                #expect(report.holds && !report.isSearched, "\(report.findings)")
            }
        }
    }
}
