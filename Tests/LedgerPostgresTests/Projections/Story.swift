import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// A person with a session.
final class Guest: Sendable {
    let caller: Caller

    init(_ caller: Caller) {
        self.caller = caller
    }

    var account: AccountID { caller.account }
}

/// Plays users of the ledger through a real sequencer.
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
        _ provider: String, _ name: String, email: String? = nil, isVerified: Bool? = true
    ) async throws -> Guest {
        let reply = try await submit(
            .signIn(
                SignIn(
                    proof(
                        subject(provider, name),
                        email: email.map { Email($0, isVerified: isVerified) },
                        // Later than any clock: the model then uses the time of the command.
                        authenticatedAt: Timestamp(seconds: 100_000_000_000)),
                    createAccount: true, refreshToken: digest(generator.bytes(32)),
                    newAccount: generator.id(), newIdentity: generator.id(),
                    newSession: generator.id()))
        ).get()
        guard case .signedIn(let grant, _) = reply else { throw Unexpected(what: "no session") }
        return Guest(Caller(account: grant.account, session: grant.session))
    }

    @discardableResult mutating func link(
        _ guest: Guest, _ provider: String, _ name: String, email: String? = nil,
        isVerified: Bool? = true
    ) async throws -> Result<Reply, Refusal> {
        let identity = subject(provider, name)
        let intent = LinkProvider(
            caller: guest.caller,
            credential: Credential(
                identity, email: email.map { Email($0, isVerified: isVerified) },
                digest: digest(generator.bytes(32))),
            idempotency: nil, newIdentity: generator.id())
        let result = try await submit(.linkProvider(intent))
        return result
    }

    @discardableResult mutating func unlink(
        _ guest: Guest, _ name: String, identity: String? = nil
    ) async throws -> Result<Reply, Refusal> {
        try await submit(
            .unlinkProvider(
                UnlinkProvider(
                    caller: guest.caller, provider: provider(name),
                    identity: identity.flatMap { IdentityID($0) },
                    idempotency: nil)))
    }

    mutating func signOut(_ guest: Guest) async throws {
        _ = try await submit(.signOut(SignOut(caller: guest.caller, scope: .session))).get()
    }

    @discardableResult mutating func erase(
        _ account: AccountID, basis: AccountErased.Basis = .dataSubjectRequest,
        agreement: EraseAccount.Agreement = .family
    ) async throws -> Result<Reply, Refusal> {
        try await submit(
            .eraseAccount(
                EraseAccount(
                    account: account, basis: basis, agreement: agreement, actor: .system)))
    }

    mutating func hold(
        _ account: AccountID, madeAt time: Timestamp = Timestamp(seconds: 1)
    ) async throws -> Result<Reply, Refusal> {
        try await submit(
            .setLegalHold(
                SetLegalHold(
                    account: account, newHold: HoldID(at: time, random: UInt128(generator.next())),
                    actor: .system)))
    }

    mutating func lift(
        _ hold: HoldID, of account: AccountID
    ) async throws -> Result<Reply, Refusal> {
        try await submit(
            .liftLegalHold(LiftLegalHold(account: account, hold: hold, actor: .system)))
    }

    mutating func submit(
        _ intent: Command.Intent
    ) async throws -> Result<Reply, Refusal> {
        try await sequencer.submit(
            Command(
                id: generator.id(), tenant: tenant,
                origin: Command.Origin(
                    request: generator.id(), clientIP: Self.clientIP, userAgent: "a test"),
                intent: intent))
    }
}

/// A test's precondition that did not hold.
struct Unexpected: Error {
    let what: String
}

/// Waits at most 20 s until a condition holds.
func eventually(
    _ what: String, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw Unexpected(what: "waited 20 s until \(what)")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}

extension ScratchDatabase {
    /// Creates a projector that does not run yet.
    func projector(
        batch: Int = 1_000, onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void = { _ in },
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Projector {
        var configuration = ProjectorConfiguration()
        configuration.batch = batch
        return Projector(
            url: runtimeURL, configuration: configuration, keyring: SequencerFixture.keyring,
            onAdvance: onAdvance,
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

    /// Returns rows of text, each with its columns joined by a bar.
    func rows(_ sql: String) async throws -> [String] {
        try await asSuperuser.texts("SELECT concat_ws('|', VARIADIC array[\(sql)")
    }

    /// Returns the rows of `user_providers` in linking order.
    func userProviders() async throws -> [String] {
        try await rows(
            """
            provider, provider_id, coalesce(email, '-')]) FROM user_providers
            ORDER BY tenant_id, linked_position
            """)
    }
}
