package import Ledger
package import LedgerSignIn

/// The services of the console, by which people of the staff are principals.
package struct StaffServices: Sendable {
    /// Seals sessions.
    package let sessions: StaffSessions
    /// Stores sessions.
    package let store: any StaffSessionStore
    /// Signs people in.
    package let flows: StaffFlows

    /// Collects the services.
    package init(sessions: StaffSessions, store: any StaffSessionStore, flows: StaffFlows) {
        self.sessions = sessions
        self.store = store
        self.flows = flows
    }

    /// Returns the live session of a secret; nil when it has ended.
    ///
    /// - Parameters:
    ///   - secret: The secret that the browser has.
    ///   - isUse: Whether the request counts as a use, which keeps the session from ending.
    ///   - now: The time.
    /// - Returns: The session.
    /// - Throws: `LedgerFault` when that cannot be determined.
    func session(
        of secret: StaffSessions.Secret, isUse: Bool, at now: Timestamp
    ) async throws(LedgerFault) -> StaffSessions.Session? {
        guard let stored = try await store.session(secret.digest),
            let session = sessions.session(stored, at: now)
        else { return nil }
        if isUse, sessions.isStale(session, at: now) {
            try await store.use(secret.digest, at: now)
        }
        return session
    }
}
