package import Cryptography
internal import Encodings
internal import JSON
package import Ledger

/// The sessions of the console: a random secret in the browser, and a row with its digest and the encrypted rest.
///
/// Writing the rows without the key neither makes a session nor changes one.
package struct StaffSessions: Sendable {
    /// The time without a request after which a session ends, in seconds.
    package static let idleSeconds: Int64 = 1_800
    /// The time from the sign-in to the end of a session, in seconds.
    package static let seconds: Int64 = 43_200
    /// The age of the last sign-in up to which an account may be erased, in seconds.
    package static let freshSeconds: Int64 = 300
    /// The time after which a use is stored again, in seconds.
    private static let useSeconds: Int64 = 60
    private static let secretByteCount = 32
    private static let tokenByteCount = 16
    private static let contentBytesMax = 65_536

    private let contents: SealedTokens
    private let digests: HMACKey
    private let tokens: HMACKey

    /// Uses the secret that all processes of the ledger share.
    package init(key secret: SymmetricKey) {
        contents = SealedTokens(key: secret, label: "console-session")
        digests = HMACKey(
            HKDFSHA256.key(from: secret, label: "account-ledger console-session digest"))
        tokens = HMACKey(
            HKDFSHA256.key(from: secret, label: "account-ledger console-session token"))
    }

    /// The secret of a session, which only the browser has, with the values that follow from it.
    package struct Secret: Sendable, CustomStringConvertible {
        /// The value of the cookie.
        package let cookie: String
        /// The digest under which the session is stored.
        package let digest: Digest
        /// The text that each request repeats in a header field, which no other site can read.
        package let token: String

        /// Checks whether a request repeats the token.
        package func permits(_ token: String) -> Bool {
            constantTimeEqual(Array(self.token.utf8), Array(token.utf8))
        }

        /// Nothing of the secret.
        package var description: String { "Secret(redacted)" }
    }

    /// A live session.
    package struct Session: Sendable {
        package let person: StaffPerson
        /// The role that the person chose among several; nil before that.
        package let chosen: Role?
        /// The time at which the person last proved to the identity provider who they are; nil when it does not say.
        package let authenticatedAt: Timestamp?
        package let expiresAt: Timestamp
        let stored: StoredStaffSession

        /// The role in a tenant: the only one, or the one that was chosen.
        package func role(in tenant: TenantID) -> Role? {
            let roles = person.roles.roles(in: tenant)
            return roles.count == 1 ? roles.first : chosen.flatMap { roles.contains($0) ? $0 : nil }
        }

        /// Whether the last sign-in is so recent that an account may be erased.
        package func isFresh(at now: Timestamp) -> Bool {
            authenticatedAt.map { now < $0.adding(seconds: StaffSessions.freshSeconds) } ?? false
        }
    }

    /// Makes the secret of a new session.
    package func newSecret() -> Secret {
        secret(of: Base64URL.encode(SecureRandom.bytes(Self.secretByteCount)))
    }

    /// Returns the secret in a cookie; nil for a malformed value.
    package func secret(in cookie: String) -> Secret? {
        guard Base64URL.decode(cookie)?.count == Self.secretByteCount else { return nil }
        return secret(of: cookie)
    }

    private func secret(of cookie: String) -> Secret {
        let bytes = Array(cookie.utf8)
        guard let digest = Digest(digests.mac(of: bytes)) else {
            preconditionFailure("HMAC-SHA-256 has 32 bytes")
        }
        let token = Base64URL.encode(Array(tokens.mac(of: bytes).prefix(Self.tokenByteCount)))
        return Secret(cookie: cookie, digest: digest, token: token)
    }

    /// Returns a new session to store.
    package func begin(
        _ person: StaffPerson, authenticatedAt: Timestamp?, of secret: Secret, at now: Timestamp
    ) -> StoredStaffSession {
        let end = now.adding(seconds: Self.seconds)
        return StoredStaffSession(
            digest: secret.digest, staff: person.id,
            content: content(person, nil, authenticatedAt, secret.digest, until: end),
            usedAt: now, expiresAt: end)
    }

    /// Returns the content of a session with another role.
    package func choosing(_ role: Role, in session: Session) -> String {
        content(
            session.person, role, session.authenticatedAt, session.stored.digest,
            until: session.expiresAt)
    }

    /// Whether a use of a session has to be stored: not one a moment after another.
    package func isStale(_ session: Session, at now: Timestamp) -> Bool {
        session.stored.usedAt.adding(seconds: Self.useSeconds) <= now
    }

    /// Returns the session of a row; nil unless it is live and its content was sealed for the row.
    package func session(_ stored: StoredStaffSession, at now: Timestamp) -> Session? {
        guard now < stored.usedAt.adding(seconds: Self.idleSeconds), now < stored.expiresAt,
            let (members, token) = contents.open(
                stored.content, Self.context(stored.digest), in: nil, at: now,
                bytesMax: Self.contentBytesMax),
            let id = members["staff"]?.string.flatMap({ StaffID($0) }), id == stored.staff,
            let name = members["name"]?.string, let roles = StaffRoles(members)
        else { return nil }
        return Session(
            person: StaffPerson(id: id, name: name, roles: roles),
            chosen: members["chosen"]?.string.flatMap { Role(rawValue: $0) },
            authenticatedAt: members["authenticated"]?.microseconds,
            expiresAt: token.expiresAt, stored: stored)
    }

    private func content(
        _ person: StaffPerson, _ chosen: Role?, _ authenticatedAt: Timestamp?, _ digest: Digest,
        until end: Timestamp
    ) -> String {
        contents.seal(Self.context(digest), in: nil, until: end) { writer in
            writer.member("staff", person.id.description)
            writer.member("name", person.name)
            person.roles.writeMember(to: &writer)
            writer.member("chosen", chosen?.rawValue)
            if let authenticatedAt {
                writer.name("authenticated")
                writer.number(authenticatedAt.microseconds)
            }
        }
    }

    private static func context(_ digest: Digest) -> String {
        "session\0\(Base64URL.encode(digest.bytes))"
    }
}
