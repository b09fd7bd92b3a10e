/// A session of the console, as it is stored.
package struct StoredStaffSession: Hashable, Sendable {
    /// The keyed digest of the secret that the browser has.
    package let digest: Digest
    package let staff: StaffID
    /// The person, the roles and the time of the sign-in: encrypted and authenticated, together with the digest.
    package let content: String
    package let usedAt: Timestamp
    package let expiresAt: Timestamp

    /// Describes a session.
    package init(
        digest: Digest, staff: StaffID, content: String, usedAt: Timestamp, expiresAt: Timestamp
    ) {
        self.digest = digest
        self.staff = staff
        self.content = content
        self.usedAt = usedAt
        self.expiresAt = expiresAt
    }
}

/// The sessions of the console, looked up at each use, so that one that has ended is refused at once.
package protocol StaffSessionStore: Sendable {
    /// Returns the session for a token digest, including an expired one; nil if the digest is unknown.
    func session(_ digest: Digest) async throws(LedgerFault) -> StoredStaffSession?

    /// Stores a new session and ends the former one of the same browser.
    ///
    /// A person has a limited number of sessions, of which the one that was used least recently ends.
    func begin(
        _ session: StoredStaffSession, replacing former: Digest?
    ) async throws(LedgerFault)

    /// Stores the time at which a session was used, unless it has ended.
    func use(_ digest: Digest, at time: Timestamp) async throws(LedgerFault)

    /// Stores the content of a session, unless it has ended.
    func replaceContent(of digest: Digest, with content: String) async throws(LedgerFault)

    /// Ends a session.
    func end(_ digest: Digest) async throws(LedgerFault)

    /// Ends every session of a person.
    func endAll(of staff: StaffID) async throws(LedgerFault)
}
