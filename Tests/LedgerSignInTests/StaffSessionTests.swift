import Cryptography
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerSignIn

/// The stored sessions of the console.
struct StaffSessionTests {
    private static let now = Timestamp(seconds: 1_790_000_000)
    private static let person = StaffPerson(
        id: StaffID(bits: 7), name: "Sam Ample", roles: StaffRoles([.support: .all]))

    private let sessions = StaffSessions(key: .generate())

    private func stored(_ secret: StaffSessions.Secret) -> StoredStaffSession {
        sessions.begin(Self.person, authenticatedAt: Self.now, of: secret, at: Self.now)
    }

    private func changed(
        _ stored: StoredStaffSession, digest: Digest? = nil, staff: StaffID? = nil,
        content: String? = nil, usedAt: Timestamp? = nil, expiresAt: Timestamp? = nil
    ) -> StoredStaffSession {
        StoredStaffSession(
            digest: digest ?? stored.digest, staff: staff ?? stored.staff,
            content: content ?? stored.content, usedAt: usedAt ?? stored.usedAt,
            expiresAt: expiresAt ?? stored.expiresAt)
    }

    @Test func `the row has nothing of the secret, the token or the name`() throws {
        let secret = sessions.newSecret()
        let stored = stored(secret)
        let text = "\(stored)"
        for hidden in [secret.cookie, secret.token, "Sam", "support"] {
            #expect(!text.contains(hidden))
        }
        #expect("\(secret)" == "Secret(redacted)")
        let session = try #require(sessions.session(stored, at: Self.now))
        #expect(session.person == Self.person)
        #expect(sessions.secret(in: secret.cookie)?.digest == secret.digest)
        #expect(sessions.secret(in: secret.cookie)?.token == secret.token)
        #expect(
            secret.permits(secret.token) && !secret.permits("") && secret.cookie != secret.token)
        for text in ["", "x", secret.cookie + "A", secret.token] {
            #expect(sessions.secret(in: text) == nil)
        }
    }

    @Test func `a session ends half an hour after its use, and twelve hours after the sign-in`() {
        let stored = stored(sessions.newSecret())
        func isLive(_ seconds: Int64, usedAt: Int64) -> Bool {
            sessions.session(
                changed(stored, usedAt: Self.now.adding(seconds: usedAt)),
                at: Self.now.adding(seconds: seconds)) != nil
        }
        #expect(isLive(1_799, usedAt: 0) && !isLive(1_800, usedAt: 0))
        #expect(isLive(43_199, usedAt: 43_190) && !isLive(43_200, usedAt: 43_199))
    }

    @Test func `a row that was changed or made without the key is no session`() throws {
        let stored = stored(sessions.newSecret())
        let other = self.stored(sessions.newSecret())
        let end = StaffSessions.seconds
        for row in [
            changed(stored, digest: other.digest), changed(stored, content: other.content),
            changed(stored, staff: StaffID(bits: 8)), changed(stored, content: "x"),
        ] {
            #expect(sessions.session(row, at: Self.now) == nil)
        }
        // A later end in the row does not extend the session.
        let later = Self.now.adding(seconds: end)
        #expect(
            sessions.session(
                changed(stored, usedAt: later, expiresAt: later.adding(seconds: end)), at: later)
                == nil)
        #expect(StaffSessions(key: .generate()).session(stored, at: Self.now) == nil)
    }

    @Test func `one of several roles is chosen, and only one of the person's`() throws {
        let acme = tenant("acme")
        let secret = sessions.newSecret()
        let person = StaffPerson(
            id: StaffID(bits: 7), name: "Sam",
            roles: StaffRoles([.support: .all, .admin: .only([acme])]))
        let stored = sessions.begin(person, authenticatedAt: nil, of: secret, at: Self.now)
        let session = try #require(sessions.session(stored, at: Self.now))
        #expect(session.role(in: .default) == .support && session.role(in: acme) == nil)
        #expect(session.authenticatedAt == nil && !session.isFresh(at: Self.now))
        func choosing(_ role: Role) -> StaffSessions.Session? {
            let content = sessions.choosing(role, in: session)
            return sessions.session(changed(stored, content: content), at: Self.now)
        }
        #expect(choosing(.admin)?.role(in: acme) == .admin)
        #expect(choosing(.admin)?.role(in: .default) == .support)
        #expect(choosing(.auditor)?.role(in: acme) == nil)
        #expect(choosing(.admin)?.expiresAt == session.expiresAt)
    }

    @Test func `a sign-in is fresh for five minutes`() throws {
        let session = try #require(
            sessions.session(stored(sessions.newSecret()), at: Self.now))
        #expect(session.isFresh(at: Self.now.adding(seconds: 299)))
        #expect(!session.isFresh(at: Self.now.adding(seconds: 300)))
    }
}
