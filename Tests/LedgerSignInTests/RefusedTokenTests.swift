import BlockingCalls
import Cryptography
import HTTP
import Ledger
import LedgerTestSupport
import Passwords
import Testing

@testable import LedgerSignIn

/// The count of the access tokens that a provider refuses to a client network.
struct RefusedTokenTests {
    private static let now = Timestamp(seconds: 1_790_000_000)

    private let codes = AddressCodes(
        current: "key", keys: ["key": SymmetricKey.generate()], store: InMemoryChallenges(),
        textsMax: { _ in 1_000 }, random: { SecureRandom.uint128() })

    private func client(_ network: String) -> CodeClient {
        let ledger = InMemoryLedger(policy: { _ in nil }, now: { Self.now })
        return CodeClient(
            codes: codes,
            passwords: PasswordChecks(
                hasher: PasswordHasher(),
                pool: BlockingPool(label: "one", threads: 1, waitingMax: 1), store: ledger,
                codes: codes, localParts: { _ in .ascii }),
            passkeys: PasskeyChecks(
                store: ledger, key: .generate(), onCounterFault: { _, _, _ in }),
            flows: BrowserFlows(key: .generate()), network: network, caller: nil,
            newID: { SecureRandom.uint128() })
    }

    /// Returns the flaw of a token; nil for one that proves a subject.
    private func flaw(
        _ token: String, api: ProviderAPI, from client: CodeClient
    ) async -> Credential.Flaw? {
        let settings = OAuth2Settings(
            issuer: "https://a.example",
            inspector: IntrospectionInspector(
                api: api, client: "app", secret: "s3cret", issuer: "https://a.example",
                audience: nil, scope: nil))
        do throws(Credential.Flaw) {
            _ = try await ProviderConfiguration(name: provider("p"), settings: .oauth2(settings))
                .prove(
                    .oauth2(OAuth2Body(accessToken: token)), in: .default, for: .link, by: client,
                    at: Self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `tokens that the provider is being asked about are not among the refused ones`()
        async throws
    {
        let barrier = Barrier()
        try await ScriptedProvider.with({ request in
            let isGood = String(decoding: request.body, as: UTF8.self).contains("token=good")
            if isGood { await barrier.pass() }
            return (200, #"{"active":\#(isGood),"client_id":"app","sub":"ada"}"#)
        }) { endpoint in
            // No limit of time, since a busy machine answers late.
            let api = ProviderAPI(
                base: "\(endpoint.url)/introspect", limits: ProviderAPI.Limits(time: .seconds(600)))
            let (here, elsewhere) = (client("203.0.113.7"), client("203.0.113.8"))
            for _ in 1..<AddressCodes.exchangesPerNetwork {
                #expect(await flaw("refused", api: api, from: here) == .invalid)
            }
            let asked = AddressCodes.exchangesPerNetwork + 1
            try await withThrowingTaskGroup(of: Credential.Flaw?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let found = await flaw("good", api: api, from: here)
                        // The other one ends as well then.
                        if found != nil { barrier.open() }
                        return found
                    }
                }
                try await eventually("both calls to arrive") {
                    endpoint.requests.count == asked ? true : nil
                }
                barrier.open()
                for try await flaw in group { #expect(flaw == nil) }
            }
            #expect(await flaw("refused", api: api, from: here) == .invalid)
            #expect(
                await flaw("good", api: api, from: here)
                    == .limited(retryAfterSeconds: CodeCount.windowSeconds))
            #expect(endpoint.requests.count == asked + 1)
            #expect(await flaw("good", api: api, from: elsewhere) == nil)
        }
    }
}
