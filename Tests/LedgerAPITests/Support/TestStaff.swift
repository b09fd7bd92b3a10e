import Cryptography
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport

/// The sessions of the console, and an identity provider of the staff that cannot be reached.
struct TestStaff {
    typealias Fields = [(name: String, value: String)]

    static let cookie = "__Host-ledger-console"

    let store = InMemoryStaffSessions()
    let services: StaffServices
    private let clock: TestClock

    init(key: SymmetricKey, clock: TestClock) {
        self.clock = clock
        let settings = StaffSettings(
            issuer: "https://id.example", client: "ledger", secret: "secret", rules: .development)
        let discovery = StaffDiscovery(
            settings, fetch: { _ in throw LedgerFault.unavailable }, onFault: { _ in })
        services = StaffServices(
            sessions: StaffSessions(key: key), store: store,
            flows: StaffFlows(settings, discovery: discovery, key: key))
    }

    /// Signs a person in, who has proved now or at another time who they are; returns the session's secret.
    func signIn(
        _ roles: [Role: StaffRoles.Reach], number: UInt128 = 1,
        authenticatedAt: Timestamp? = nil
    ) async throws -> StaffSessions.Secret {
        let secret = services.sessions.newSecret()
        let person = StaffPerson(
            id: StaffID(bits: number), name: "Sam Ample", roles: StaffRoles(roles))
        try await store.begin(
            services.sessions.begin(
                person, authenticatedAt: authenticatedAt ?? clock.now, of: secret, at: clock.now),
            replacing: nil)
        return secret
    }

    /// The header fields of a request of the console.
    static func fields(of secret: StaffSessions.Secret) -> Fields {
        [
            ("Cookie", "\(cookie)=\(secret.cookie)"), ("Ledger-CSRF", secret.token),
            ("Sec-Fetch-Site", "same-origin"),
        ]
    }
}
