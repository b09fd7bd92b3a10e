import Testing

@testable import Cryptography
@testable import OpenID

/// Lookups of unknown keys at a provider that fails or does not answer.
extension KeySetCacheTests {
    private func expectUnavailable(
        _ keyID: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: KeysUnavailable.self, sourceLocation: sourceLocation) {
            try await finds(keyID)
        }
    }

    @Test func `a rotated key is found one second after a lookup that failed`() async throws {
        #expect(try await finds(first.keyID))
        provider.publish(second)
        provider.setDown(true)
        for _ in 0..<5 {
            await expectUnavailable(second.keyID)
        }
        #expect(provider.fetches == 2)
        provider.setDown(false)
        await expectUnavailable(second.keyID)
        #expect(provider.fetches == 2)

        provider.advance(seconds: 1)
        #expect(try await finds(second.keyID))
        #expect(provider.fetches == 3)
    }

    @Test func `lookups that fail are repeated after pauses that double up to a minute`()
        async throws
    {
        #expect(try await finds(first.keyID))
        provider.setDown(true)
        await expectUnavailable("made-up")
        var fetches = 2
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            provider.advance(seconds: pause - 1)
            await expectUnavailable("made-up")
            #expect(provider.fetches == fetches)
            provider.advance(seconds: 1)
            await expectUnavailable("made-up")
            fetches += 1
            #expect(provider.fetches == fetches)
            #expect(try await finds(first.keyID))
        }
    }

    @Test func `a rotated key is found although made-up key names were looked up before`()
        async throws
    {
        #expect(try await finds(first.keyID))
        for _ in 0..<4 {
            #expect(try await !finds("made-up"))
        }
        provider.publish(second)
        #expect(try await finds(second.keyID))
    }

    @Test func `a flood of made-up key names costs a burst and one good fetch a minute`()
        async throws
    {
        #expect(try await finds(first.keyID))
        for _ in 0..<600 {
            #expect(try await !finds("made-up"))
            #expect(try await finds(first.keyID))
            provider.advance(seconds: 1)
        }
        // The first of the ten minutes begins with the burst.
        #expect(provider.fetches == 1 + Int(KeySetCache.lookupBurst) + 9)
    }

    @Test func `a rotated key is found at once by tokens that name none, and others cost a burst`()
        async throws
    {
        let (former, rotated) = (RSASigningKey.generate(), RSASigningKey.generate())
        provider.publish(body: Array(#"{"keys":[\#(former.publicJWK)]}"#.utf8))
        #expect(await faultWithoutName(former) == nil)
        provider.publish(body: Array(#"{"keys":[\#(rotated.publicJWK)]}"#.utf8))
        #expect(await faultWithoutName(rotated) == nil)
        #expect(provider.fetches == 2)
        for _ in 0..<20 {
            #expect(await faultWithoutName(former) == .badSignature)
            #expect(await faultWithoutName(rotated) == nil)
        }
        // The rotation was the first of the burst.
        #expect(provider.fetches == 1 + Int(KeySetCache.lookupBurst))
    }

    /// Returns the reason why a token without `kid` is refused; nil if it is valid.
    private func faultWithoutName(_ key: RSASigningKey) async -> IDTokenFault? {
        let token = key.sign(header: [:], claims: Claims().json)
        do {
            _ = try await Issuer.checker().check(token, nonce: nil, keys: cache, now: Claims.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a good lookup still counts when the provider then fails`() async throws {
        #expect(try await finds(first.keyID))
        for _ in 0..<KeySetCache.lookupBurst {
            #expect(try await !finds("made-up"))
        }
        provider.setDown(true)
        provider.advance(seconds: 59)
        #expect(try await !finds("made-up"))
        #expect(provider.fetches == 1 + Int(KeySetCache.lookupBurst))
        provider.advance(seconds: 1)
        await expectUnavailable("made-up")
        #expect(provider.fetches == 2 + Int(KeySetCache.lookupBurst))
    }

    @Test func `a renewal that a made-up key name waited for counts as its lookup`()
        async throws
    {
        #expect(try await finds(first.keyID))
        provider.advance(seconds: 3_600)
        provider.hold()
        #expect(try await finds(first.keyID))
        try await eventually("the renewal to begin") { provider.fetches == 2 }
        let answers = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0...KeySetCache.waitersMax {
                group.addTask { try? await finds("made-up") }
            }
            // The one in excess comes back at once: then all others wait for the renewal.
            var answers = [await group.next() ?? false]
            provider.release()
            while let answer = await group.next() {
                answers.append(answer)
            }
            return answers
        }
        #expect(answers == [nil] + [Bool?](repeating: false, count: KeySetCache.waitersMax))
        for _ in 0..<10 {
            #expect(try await !finds("made-up"))
        }
        #expect(provider.fetches == 1 + Int(KeySetCache.lookupBurst))
    }

    @Test(arguments: [false, true])
    func `a silent provider blocks a bounded number of callers`(hasKeys: Bool)
        async throws
    {
        if hasKeys {
            #expect(try await finds(first.keyID))
        }
        provider.hold()
        let callers = 3 * KeySetCache.waitersMax
        let name = hasKeys ? "made-up" : first.keyID
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    do {
                        _ = try await finds(name)
                        return false
                    } catch {
                        return true
                    }
                }
            }
            var refused = 0
            // Those in excess come back while the provider is held.
            while refused < callers - KeySetCache.waitersMax, let isRefused = try await group.next()
            {
                try #require(isRefused)
                refused += 1
            }
            if hasKeys {
                #expect(try await finds(first.keyID))
            }
            provider.release()
            for try await isRefused in group {
                #expect(!isRefused)
            }
            return refused
        }
        #expect(refused == callers - KeySetCache.waitersMax)
        #expect(provider.fetches == (hasKeys ? 2 : 1))
    }

    @Test func `callers of one fetch leave capacity for those of the next`() async throws {
        for round in 1...3 {
            provider.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<KeySetCache.waitersMax {
                    group.addTask { await expectUnavailable("made-up") }
                }
                try await eventually("the fetch to begin") { provider.fetches == round }
                provider.setDown(true)
                provider.release()
                try await group.waitForAll()
            }
            provider.advance(seconds: 60)
        }
    }
}
