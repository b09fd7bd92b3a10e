import Cryptography
import OpenID
import Testing

/// The fetches of a provider's keys, and the callers that wait for them.
@Suite(.timeLimit(.minutes(10))) struct KeySetCacheTests {
    let first = TokenSigningKey.generate()
    let second = TokenSigningKey.generate()
    let provider: KeySetProvider
    let cache: KeySetCache

    init() {
        provider = KeySetProvider(first)
        cache = provider.cache()
    }

    func finds(_ keyID: String) async throws -> Bool {
        try await cache.keys(forKeyID: keyID).contains(id: keyID)
    }

    @Test func `nothing is fetched before the first question and once for many`() async throws {
        #expect(provider.fetches == 0)
        for _ in 0..<10 {
            #expect(try await finds(first.keyID))
        }
        #expect(try await !cache.keys(forKeyID: nil).isEmpty)
        #expect(provider.fetches == 1)
    }

    @Test func `a current key set is returned without waiting until it is old`() async throws {
        #expect(cache.known(forKeyID: first.keyID) == nil)
        #expect(provider.fetches == 0)
        #expect(try await finds(first.keyID))
        #expect(cache.known(forKeyID: first.keyID)?.contains(id: first.keyID) == true)
        #expect(cache.known(forKeyID: nil) != nil)
        #expect(cache.known(forKeyID: second.keyID) == nil)
        provider.advance(seconds: KeySetCache.maxAgeSecondsDefault)
        #expect(cache.known(forKeyID: first.keyID) == nil)
        #expect(provider.fetches == 1)
    }

    @Test func `concurrent first questions share one fetch`() async throws {
        provider.hold()
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<KeySetCache.waitersMax {
                group.addTask { try await finds(first.keyID) }
            }
            try await eventually("the fetch to begin") { provider.fetches == 1 }
            provider.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [Bool](repeating: true, count: KeySetCache.waitersMax))
        #expect(provider.fetches == 1)
    }

    @Test func `a rotated key is found at once`() async throws {
        #expect(try await finds(first.keyID))
        provider.publish(second)
        #expect(try await finds(second.keyID))
        #expect(provider.fetches == 2)
    }

    @Test func `made-up key names cost a burst of fetches and then one a minute`() async throws {
        let burst = Int(KeySetCache.lookupBurst)
        #expect(try await finds(first.keyID))
        for name in 0..<20 {
            #expect(try await !finds("made-up-\(name)"))
        }
        #expect(provider.fetches == 1 + burst)

        provider.publish(second)
        provider.advance(seconds: 59)
        #expect(try await !finds(second.keyID))
        #expect(provider.fetches == 1 + burst)

        provider.advance(seconds: 1)
        #expect(try await finds(second.keyID))
        #expect(provider.fetches == 2 + burst)
    }

    @Test func `concurrent made-up key names share one fetch`() async throws {
        #expect(try await finds(first.keyID))
        provider.hold()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for name in 0..<KeySetCache.waitersMax {
                group.addTask { try await finds("made-up-\(name)") }
            }
            try await eventually("the lookup to begin") { provider.fetches == 2 }
            provider.release()
            for try await found in group {
                #expect(!found)
            }
        }
        #expect(provider.fetches == 2)
    }

    @Test func `a known key is answered while a fetch is under way`() async throws {
        #expect(try await finds(first.keyID))
        provider.hold()
        async let unknown = finds("made-up")
        try await eventually("the lookup to begin") { provider.fetches == 2 }
        // The provider does not answer: waiting for it here would never end.
        #expect(try await finds(first.keyID))
        provider.release()
        #expect(try await !unknown)
    }

    @Test func `an old set is served and renewed in the background`() async throws {
        #expect(try await finds(first.keyID))
        provider.publish(second)
        provider.advance(seconds: 3_599)
        #expect(try await finds(first.keyID))
        #expect(provider.fetches == 1)

        provider.advance(seconds: 1)
        provider.hold()
        #expect(try await finds(first.keyID))
        try await eventually("the renewal to begin") { provider.fetches == 2 }
        #expect(try await finds(first.keyID))
        provider.release()
        try await eventually("the renewal to end") {
            try await cache.keys(forKeyID: nil).contains(id: second.keyID)
        }
        #expect(provider.fetches == 2)
    }

    @Test(
        arguments: [
            (0, 300), (299, 300), (300, 300), (7_200, 7_200), (86_400, 86_400), (1_000_000, 86_400),
        ] as [(Int64, Int64)])
    func `the provider's maximum age is kept between 5 minutes and a day`(
        named: Int64, kept: Int64
    ) async throws {
        provider.publish(first, maxAgeSeconds: named)
        #expect(try await finds(first.keyID))
        provider.advance(seconds: kept - 1)
        #expect(try await finds(first.keyID))
        #expect(provider.fetches == 1)
        provider.advance(seconds: 1)
        #expect(try await finds(first.keyID))
        try await eventually("the renewal to begin") { provider.fetches == 2 }
    }

    @Test func `old keys are served while the provider is down, and fetches are rare`()
        async throws
    {
        #expect(try await finds(first.keyID))
        provider.setDown(true)
        provider.advance(seconds: 100_000)
        #expect(try await finds(first.keyID))
        try await eventually("the first renewal") { provider.fetches == 2 }
        // Each pause doubles, so a second's pause ends at most every other time here.
        for _ in 0..<10 {
            provider.advance(seconds: 1)
            for _ in 0..<10 {
                #expect(try await finds(first.keyID))
            }
        }
        #expect(provider.fetches <= 6)
    }

    @Test func `without any keys the fault is thrown and fetches are rare`()
        async throws
    {
        provider.setDown(true)
        for _ in 0..<10 {
            await #expect(throws: KeysUnavailable.self) {
                try await cache.keys(forKeyID: first.keyID)
            }
        }
        #expect(provider.fetches == 1)
        provider.advance(seconds: 1)
        await #expect(throws: KeysUnavailable.self) { try await cache.keys(forKeyID: nil) }
        #expect(provider.fetches == 2)
        provider.advance(seconds: 1)
        await #expect(throws: KeysUnavailable.self) { try await cache.keys(forKeyID: nil) }
        #expect(provider.fetches == 2)

        provider.setDown(false)
        provider.advance(seconds: 1)
        #expect(try await finds(first.keyID))
        #expect(provider.fetches == 3)
    }

    @Test(arguments: ["", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"AA"}]}"#])
    func `a document without a usable key does not replace the keys`(text: String) async throws {
        #expect(try await finds(first.keyID))
        provider.publish(body: Array(text.utf8))
        await #expect(throws: KeysUnavailable.self) { try await finds("made-up") }
        #expect(provider.fetches == 2)
        #expect(try await finds(first.keyID))
    }

    @Test func `a checker waits for the keys only when the header is worth it`() async throws {
        let checker = Issuer.checker(algorithms: [.es256])
        let wrong = Issuer.token(Claims())
        await #expect(throws: IDTokenFault.algorithmNotAllowed) {
            try await checker.check(wrong, nonce: nil, keys: cache, now: Claims.now)
        }
        #expect(provider.fetches == 0)

        let good = first.sign(claims: Claims().json, type: "JWT")
        let claims = try await checker.check(good, nonce: nil, keys: cache, now: Claims.now)
        #expect(claims.subject == "subject-1")

        let unavailable = KeySetProvider(first)
        unavailable.setDown(true)
        await #expect(throws: IDTokenFault.keysUnavailable) {
            try await checker.check(good, nonce: nil, keys: unavailable.cache(), now: Claims.now)
        }
    }
}
