package import Ledger
internal import Synchronization

/// The sessions of the console in memory.
package final class InMemoryStaffSessions: StaffSessionStore {
    private let sessions = Mutex<[Digest: StoredStaffSession]>([:])

    /// Creates an empty store.
    package init() {}

    /// Every stored session.
    package var all: [StoredStaffSession] { sessions.withLock { Array($0.values) } }

    /// Returns the session with a digest.
    package func session(_ digest: Digest) async throws(LedgerFault) -> StoredStaffSession? {
        sessions.withLock { $0[digest] }
    }

    /// Stores a new session, and ends the former one.
    package func begin(
        _ session: StoredStaffSession, replacing former: Digest?
    ) async throws(LedgerFault) {
        sessions.withLock { sessions in
            if let former { sessions[former] = nil }
            sessions[session.digest] = session
        }
    }

    /// Stores the time at which a session was used.
    package func use(_ digest: Digest, at time: Timestamp) async throws(LedgerFault) {
        change(digest, content: nil, usedAt: time)
    }

    /// Stores the content of a session.
    package func replaceContent(
        of digest: Digest, with content: String
    ) async throws(LedgerFault) {
        change(digest, content: content, usedAt: nil)
    }

    /// Ends a session.
    package func end(_ digest: Digest) async throws(LedgerFault) {
        sessions.withLock { $0[digest] = nil }
    }

    /// Ends every session of a person.
    package func endAll(of staff: StaffID) async throws(LedgerFault) {
        sessions.withLock { sessions in sessions = sessions.filter { $0.value.staff != staff } }
    }

    private func change(_ digest: Digest, content: String?, usedAt: Timestamp?) {
        sessions.withLock { sessions in
            guard let former = sessions[digest] else { return }
            sessions[digest] = StoredStaffSession(
                digest: digest, staff: former.staff, content: content ?? former.content,
                usedAt: usedAt ?? former.usedAt, expiresAt: former.expiresAt)
        }
    }
}
