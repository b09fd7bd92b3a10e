import Ledger
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// Plays people who use the ledger through a real sequencer.
struct Story {
    private let sequencer: Sequencer
    private let tenant: TenantID
    private var generator: SeededGenerator

    /// The caller's address in every command of a story.
    static let clientIP = "203.0.113.7"

    init(_ sequencer: Sequencer, tenant: TenantID = .default, seed: UInt64 = 1) {
        self.sequencer = sequencer
        self.tenant = tenant
        generator = SeededGenerator(seed: seed)
    }

    mutating func signIn(
        _ provider: String, _ name: String, email: String? = nil
    ) async throws -> Caller {
        let reply = try await submit(
            .signIn(
                SignIn(
                    identity: subject(provider, name), email: email,
                    // Later than any clock: the model takes the time of the command instead.
                    authenticatedAt: Timestamp(seconds: 100_000_000_000), createAccount: true,
                    refreshToken: digest(generator.bytes(32)), newAccount: generator.id(),
                    newIdentity: generator.id(), newSession: generator.id()))
        ).get()
        guard case .signedIn(let grant, _) = reply else { throw Unexpected(what: "no session") }
        return Caller(account: grant.account, session: grant.session)
    }

    @discardableResult mutating func link(
        _ caller: Caller, _ provider: String, _ name: String, email: String? = nil
    ) async throws -> Result<Reply, Refusal> {
        let identity = subject(provider, name)
        let intent = LinkProvider(
            caller: caller, provider: identity.provider,
            credential: .proved(identity, email: email),
            tokenDigest: digest(generator.bytes(32)), idempotency: nil,
            newIdentity: generator.id())
        print("L1")
        let result = try await submit(.linkProvider(intent))
        print("L2")
        return result
    }

    @discardableResult mutating func unlink(
        _ caller: Caller, _ name: String, identity: IdentityID? = nil
    ) async throws -> Result<Reply, Refusal> {
        try await submit(
            .unlinkProvider(
                UnlinkProvider(
                    caller: caller, provider: provider(name), identity: identity,
                    idempotency: nil)))
    }

    mutating func signOut(_ caller: Caller) async throws {
        _ = try await submit(.signOut(SignOut(caller: caller, scope: .session))).get()
    }

    private mutating func submit(
        _ intent: Command.Intent
    ) async throws -> Result<Reply, Refusal> {
        print("S0")
        let r = try await sequencer.submit(
            Command(
                id: generator.id(), tenant: tenant,
                origin: Command.Origin(
                    request: generator.id(), clientIP: Self.clientIP, userAgent: "a test"),
                intent: intent))
        print("S1", r)
        return r
    }
}

/// Something that a test relies on did not happen.
struct Unexpected: Error {
    let what: String
}

/// Waits until something holds, at most 20 s.
func eventually(
    _ what: String, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw Unexpected(what: "waited 20 s until \(what)")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}

extension ScratchDatabase {
    /// A projector that nobody runs yet.
    func projector(
        batch: Int = 1_000, onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void = { _ in },
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Projector {
        var configuration = ProjectorConfiguration(url: runtimeURL)
        configuration.batch = batch
        return Projector(
            configuration: configuration, keyring: SequencerFixture.keyring, onAdvance: onAdvance,
            onFault: onFault)
    }

    /// Runs a projector until each projection has folded everything or stopped.
    func fold() async throws {
        let projector = projector()
        let running = Task { await projector.run() }
        try await eventually("every projection has folded everything or stopped") {
            try await projector.status().allSatisfy { $0.lag == 0 || $0.failure != nil }
        }
        running.cancel()
        await running.value
    }

    /// Rows of text, each with its columns joined by a bar.
    func rows(_ sql: String) async throws -> [String] {
        try await asSuperuser.texts("SELECT concat_ws('|', VARIADIC array[\(sql)")
    }

    /// The rows of `user_providers` in linking order.
    func userProviders() async throws -> [String] {
        try await rows(
            """
            provider, provider_id, coalesce(email, '-')]) FROM user_providers
            ORDER BY tenant_id, linked_position
            """)
    }
}
