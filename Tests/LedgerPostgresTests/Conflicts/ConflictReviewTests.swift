import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerAudit
@testable import LedgerPostgres

/// Notes on conflicts, beside the read model.
@Suite struct ConflictReviewTests {
    private static func review(_ note: String = "looked at") -> ConflictReview {
        ConflictReview(note: note, principal: "api_key:x", at: Timestamp(seconds: 1_000))
    }

    private func with(
        _ body: @Sendable (MergeFixture, ConflictReads, EventID) async throws -> Void
    ) async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            let reads = ConflictReads(url: fixture.database.runtimeURL) { _ in }
            let page = try await reads.conflicts(
                matching: ConflictQuery(limit: 10), in: .default)
            let first = try #require(page.page.elements.first).first.event
            try await body(fixture, reads, first)
            await reads.close()
        }
    }

    private func counts(_ reads: ConflictReads) async throws -> [Int64] {
        let counts = try await reads.counts(in: .default)
        #expect(!counts.hasMore && counts.extent.foldedSize == counts.extent.logSize)
        return [counts.open, counts.resolved, counts.reviewed]
    }

    @Test func `a note is shown with its conflict until the next attempt`() async throws {
        try await with { fixture, reads, first in
            #expect(try await counts(reads) == [1, 0, 0])
            #expect(try await reads.conflict(of: first, in: .default)?.found.review == nil)
            try await reads.review(first, Self.review(), in: .default).get()
            let found = try #require(try await reads.conflict(of: first, in: .default)?.found)
            #expect(found.review == Self.review() && found.conflict.first.event == first)
            let page = try await reads.conflicts(matching: ConflictQuery(limit: 10), in: .default)
            #expect(page.reviews == [found.conflict.first.position: Self.review()])
            #expect(try await counts(reads) == [1, 0, 1])
            try await reads.review(first, Self.review("other"), in: .default).get()
            #expect(
                try await reads.conflict(of: first, in: .default)?.found.review?.note == "other")
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            #expect(try await reads.conflict(of: first, in: .default)?.found.review == nil)
            #expect(try await counts(reads) == [1, 0, 0])
            try await reads.review(first, Self.review("again"), in: .default).get()
            #expect(try await counts(reads) == [1, 0, 1])
            try await reads.review(first, nil, in: .default).get()
            #expect(try await counts(reads) == [1, 0, 0])
            try await fixture.check()
        }
    }

    @Test func `only the event of a first attempt names a conflict, in its own tenant`()
        async throws
    {
        try await with { fixture, reads, first in
            let events = try await fixture.sequencer.log().map(\.recorded.id)
            for event in events {
                let found = try await reads.conflict(of: event, in: .default)
                #expect((found != nil) == (event == first))
            }
            #expect(try await reads.conflict(of: first, in: tenant("acme")) == nil)
            #expect(
                try await reads.review(EventID(bits: 7), Self.review(), in: .default)
                    .failure == .unknownConflict)
        }
    }

    @Test func `a note survives rebuilds of the read model`() async throws {
        try await with { fixture, reads, first in
            try await reads.review(first, Self.review(), in: .default).get()
            let rebuild = Rebuild(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring)
            _ = try await rebuild.run(.conflicts)
            await rebuild.close()
            _ = try await fixture.database.rebuildOnline(.conflicts)
            #expect(
                try await reads.conflict(of: first, in: .default)?.found.review == Self.review())
            #expect(try await counts(reads) == [1, 0, 1])
        }
    }

    @Test(arguments: [true, false])
    func `the erasure of either party deletes the note, and refuses another`(
        isOfCaller: Bool
    ) async throws {
        try await with { fixture, reads, first in
            try await reads.review(first, Self.review("of Ada"), in: .default).get()
            #expect(try await fixture.database.tables(holding: "of Ada") != [])
            var story = fixture.story()
            try await story.erase(isOfCaller ? fixture.bob.account : fixture.ada.account)
            #expect(try await fixture.database.tables(holding: "of Ada") == [])
            try await fixture.database.fold()
            let refused = try await reads.review(first, Self.review(), in: .default)
            #expect(refused.failure == .accountErased)
            #expect(try await counts(reads) == [0, 1, 0])
            try await reads.review(first, nil, in: .default).get()
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
