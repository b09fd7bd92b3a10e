import Cryptography
import Encodings
import JSON
import Ledger
import LedgerTestSupport
import Passkeys
import Testing

@testable import LedgerSignIn

/// The tokens of browser flows, second factors and passkeys, and restores of their tenants.
struct RestoredTokenTests {
    private static let now = Timestamp(seconds: 1_790_000_000)
    private static let verifier = String(repeating: "v", count: 43)
    private static let (google, passkey) = (provider("google"), provider("passkey"))
    private static let caller = Caller(account: AccountID(bits: 1), session: SessionID(bits: 2))
    private static let proof = Proof(
        subject("google", "ada"), authenticatedAt: now, methods: .federated, email: nil)

    private let key = SymmetricKey.generate()

    /// The services of a server, which reads the restores at its start.
    private struct Services {
        private let flows: BrowserFlows
        private let factors: SecondFactorTokens
        private let passkeys: PasskeyChecks
        private let settings: PasskeySettings

        init(_ key: SymmetricKey, _ restores: [TenantID: Timestamp] = [:]) throws {
            flows = BrowserFlows(key: key, restores: restores)
            factors = SecondFactorTokens(key: key, restores: restores)
            passkeys = PasskeyChecks(
                store: InMemoryLedger(policy: { _ in nil }, now: { RestoredTokenTests.now }),
                key: key, restores: restores, onCounterFault: { _, _, _ in })
            settings = PasskeySettings(
                relyingParty: try #require(
                    RelyingParty(
                        id: "example.com", name: "Example", origins: ["https://example.com"])))
        }

        /// Returns a token of each kind.
        func tokens(in tenant: TenantID) throws -> [String] {
            let body = FlowBody(code: "", verifier: verifier)
            let flow = BrowserFlow(
                use: .signIn, provider: google, returnTo: "https://app.example/back",
                challenge: body.challenge)
            let begun = flows.begin(flow, in: tenant, at: now)
            let pending = try #require(flows.start(begun, in: tenant, at: now))
            let answer = BrowserFlows.Answer(
                state: pending.state, code: "c0de", error: nil, issuer: nil)
            let challenge = try passkeys.beginAssertion(
                for: .signIn, of: passkey, settings, in: tenant, at: now)
            return [
                begun, pending.cookie, flows.keep(answer, in: tenant, at: now),
                flows.code(flow, proof, in: tenant, at: now),
                flows.token(keeping: proof, of: body, refusedTo: caller, in: tenant, at: now),
                factors.issue(for: proof, of: caller.account, in: tenant, at: now),
                factors.issue(enrolling: [1], for: caller, in: tenant, at: now), challenge.id,
            ]
        }

        /// Returns whether each of these tokens is accepted.
        func accepts(_ tokens: [String], in tenant: TenantID) throws -> [Bool] {
            let state = Base64URL.encode(SHA256.hash(tokens[1]))
            let response = PasskeyBody(
                challenge: tokens[7],
                credential: try #require(JSONValue(parsing: Array("{}".utf8))))
            return [
                flows.start(tokens[0], in: tenant, at: now) != nil,
                flows.pending(tokens[1], state: state, in: tenant, at: now) != nil,
                flows.kept(tokens[2], in: tenant, at: now) != nil,
                proves(tokens[3], in: tenant), proves(tokens[4], in: tenant),
                factors.firstStep(tokens[5], in: tenant, names: { _, _ in [] }, at: now) != nil,
                factors.enrolment(tokens[6], of: caller, in: tenant, at: now) != nil,
                passkeys.open(response, for: .signIn, of: passkey, settings, in: tenant, at: now)
                    != nil,
            ]
        }

        private func proves(_ code: String, in tenant: TenantID) -> Bool {
            let proof = try? flows.prove(
                FlowBody(code: code, verifier: verifier), of: google, in: tenant,
                for: .signIn(tenant, singleUse: nil), by: nil, at: now)
            return proof != nil
        }
    }

    @Test func `the tokens of a tenant from before its last restore are invalid, and no others`()
        throws
    {
        let (all, none) = (Array(repeating: true, count: 8), Array(repeating: false, count: 8))
        let acme = tenant("acme")
        let before = try Services(key)
        let after = try Services(key, [.default: Self.now])
        let again = try Services(key, [.default: Self.now.adding(seconds: 1)])
        let tokens = try before.tokens(in: .default)
        #expect(try before.accepts(tokens, in: .default) == all)
        #expect(try after.accepts(tokens, in: .default) == none)
        #expect(try after.accepts(before.tokens(in: acme), in: acme) == all)
        let renewed = try after.tokens(in: .default)
        let other = try Services(key, [.default: Self.now, acme: Self.now])
        #expect(try other.accepts(renewed, in: .default) == all, "another server")
        #expect(try again.accepts(renewed, in: .default) == none)
        #expect(try before.accepts(renewed, in: .default) == none, "a server that was not stopped")
    }
}
