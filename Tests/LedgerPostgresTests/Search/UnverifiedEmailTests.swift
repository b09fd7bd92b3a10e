import Cryptography
import Encodings
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAudit

/// Searches for an e-mail of several identities, not all of which have verified it.
@Suite struct UnverifiedEmailTests {
    private static let wanted = "ceo@corp.example"

    @Test func `the verified identity is first, however many only claim the e-mail`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                for number in 0...SearchResult.hitsMax + 1 {
                    _ = try await story.signIn(
                        "apple", "\(number)", email: Self.wanted,
                        isVerified: number.isMultiple(of: 2) ? false : nil)
                }
                // The last identity by its id, which is not listed for that reason.
                let last = try #require(
                    try await database.asSuperuser.texts(
                        "SELECT provider_id FROM identities ORDER BY identity_id DESC LIMIT 1"
                    ).first)
                let owner = try await story.signIn("apple", last, email: Self.wanted)
                try await database.fold()
                let found = try await database.search(Self.wanted)
                #expect(found.hasMore)
                #expect(found.accounts.first?.id == owner.account)
                #expect(found.accounts.first?.matchedBy == [.email])
                #expect(found.identities.first?.isEmailVerified == true)
                #expect(
                    found.accounts.dropFirst().allSatisfy { $0.matchedBy == [.unverifiedEmail] })
                let others = found.accounts.dropFirst().map(\.id)
                #expect(others == others.sorted() && others.count == SearchResult.hitsMax - 1)
            }
        }
    }

    @Test func `an account lists all its matches`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("google", "ada", email: Self.wanted)
                _ = try await story.link(
                    ada, "apple", "ada", email: Self.wanted, isVerified: nil
                ).get()
                try await database.fold()
                let found = try await database.search(Self.wanted)
                #expect(found.accounts.map(\.matchedBy) == [[.email, .unverifiedEmail]])
                #expect(found.identities.map(\.isEmailVerified) == [true, nil])
                #expect(found.identities.map(\.matchedBy) == [[.email], [.unverifiedEmail]])
            }
        }
    }

    @Test(arguments: [true, false, nil])
    func `a former e-mail is found with its flag, with or without a digest`(
        isVerified: Bool?
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("google", "ada")
                _ = try await story.link(
                    ada, "apple", "ada", email: Self.wanted, isVerified: isVerified
                ).get()
                _ = try await story.unlink(ada, "apple").get()
                try await database.fold()
                let match = SearchMatch.email(isVerified: isVerified, isFormer: true)
                for isLookedAt in [false, true] {
                    if isLookedAt { try await database.completeFormerEmails() }
                    let found = try await database.search(Self.wanted)
                    #expect(found.accounts.map(\.matchedBy) == [[match]])
                    #expect(found.identities.map(\.matchedBy) == [[match]])
                    #expect(found.identities.map(\.isEmailVerified) == [isVerified])
                }
                let right = try await database.verifySearch()
                #expect(right.holds, "\(right.findings)")

                let other = ScratchDatabase.searchKey.digest(
                    of: Email(Self.wanted, isVerified: isVerified != true), in: .default)
                try await database.asSuperuser.execute(
                    """
                    UPDATE identities SET former_email = decode('\(Hex.encode(other))', 'hex')
                    WHERE account_id IS NULL
                    """)
                let wrong = try await database.verifySearch()
                #expect(wrong.findings.map(\.check) == [.identities], "\(wrong.findings)")
            }
        }
    }

    @Test func `a digest without a flag is that of an earlier release`() {
        let key = [UInt8](repeating: 0x21, count: 32)
        #expect(
            ScratchDatabase.searchKey.digest(of: Email(" A@b.c", isVerified: nil), in: .default)
                == HMACSHA256.mac(key: key, Array("former-email:default\0a@b.c".utf8)))
        #expect(Set(ScratchDatabase.searchKey.digests(of: "a@b.c", in: .default)).count == 3)
    }
}
