import Cryptography
import Ledger
import Testing

@testable import LedgerAPI

/// Digests of what clients send have keys, and a repeated request is recognised over upgrades and rotations.
struct KeyedDigestTests {
    private static let day: Int64 = 86_400

    /// A process of the release that stored plain digests, upgraded some seconds before now or later.
    private func formerRelease(upgradedAgo seconds: Int64 = 0) throws -> TestService {
        try TestService {
            $0.digestKeys = [:]
            $0.upgradedAt = TestClock().now.adding(seconds: -seconds)
        }
    }

    private func upgraded(_ service: TestService) throws -> TestService {
        try service.restarted { $0.digestKeys = ["first": SymmetricKey.generate()] }
    }

    @Test func `a retry of a request to the former release is answered and does not act`()
        async throws
    {
        let former = try formerRelease()
        let person = try await former.signIn("apple", "ada")
        let token = former.idToken("google", "ada-g")
        let first = try await former.link("google", token, by: person, key: "k")
        #expect(first.status == 200)
        let count = former.log().count
        let service = try upgraded(former)
        let again = try await service.link("google", token, by: person, key: "k")
        #expect(again.status == 200 && again.body == first.body)
        #expect(service.log().count == count)
        let other = try await service.link("google", token, ",\"x\":1", by: person, key: "k")
        #expect(other.summary == "422 IDEMPOTENCY_KEY_REUSED")
    }

    @Test func `a day after the upgrade plain digests are not looked up`() async throws {
        let former = try formerRelease(upgradedAgo: Self.day - 60)
        let person = try await former.signIn("apple", "ada")
        let service = try upgraded(former)
        let token = service.idToken("google", "ada-g")
        _ = try await former.link("google", token, by: person, key: "link")
        service.clock.advance(seconds: 59)
        let before = try await service.link("google", token, by: person, key: "link")
        #expect(before.status == 200)
        service.clock.advance(seconds: 1)
        let after = try await service.link("google", token, by: person, key: "link")
        #expect(after.summary == "409 PROVIDER_CONFLICT", "decided again: the identity is theirs")
    }

    @Test func `an attempt at the former release counts once`() async throws {
        let former = try formerRelease()
        _ = try await former.signIn("google", "bob")
        let person = try await former.signIn("apple", "ada")
        let token = former.idToken("google", "bob")
        #expect(try await former.link("google", token, by: person).status == 409)
        let count = former.log().count
        let service = try upgraded(former)
        for _ in 0..<6 {
            #expect(try await service.link("google", token, by: person).status == 409)
        }
        #expect(service.log().count == count)
    }

    @Test func `a rotation forgets no answer and no attempt`() async throws {
        let service = try TestService()
        _ = try await service.signIn("google", "bob")
        let person = try await service.signIn("apple", "ada")
        let token = service.idToken("google", "ada-g")
        let taken = service.idToken("google", "bob")
        let first = try await service.link("google", token, by: person, key: "k")
        #expect(try await service.link("google", taken, by: person).status == 409)
        let count = service.log().count
        let rotated = try service.restarted {
            $0.digestKeys["second"] = SymmetricKey.generate()
            $0.digestKey = "second"
        }
        let again = try await rotated.link("google", token, by: person, key: "k")
        #expect(again.body == first.body)
        #expect(try await rotated.link("google", taken, by: person).status == 409)
        #expect(rotated.log().count == count)
    }

    @Test func `each purpose has a digest of its own, by the key in use first`() throws {
        let now = Timestamp(seconds: 100_000)
        let keys = ["a": SymmetricKey.generate(), "b": SymmetricKey.generate()]
        let digests = RequestDigests(current: "b", keys: keys, upgradedAt: Timestamp(seconds: 0))
        let text = "x"
        let plain = try #require(Digest(SHA256.hash(text)))
        let attempt = digests.attempt(plain, at: now)
        let request = digests.idempotencyKey(
            scope: Array(text.utf8), content: Array(text.utf8), of: AccountID(bits: 1), at: now)
        #expect(attempt.all.map(\.key) == ["b", "a"])
        #expect(request.all.map(\.key) == ["b", "a"])
        let all =
            attempt.all.map(\.digest) + request.all.map(\.scope.digest)
            + request.all.map(\.fingerprint)
        #expect(Set(all).count == 6)
        #expect(!all.contains(plain))
    }
}
