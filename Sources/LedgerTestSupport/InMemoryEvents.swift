package import Ledger

/// An auditor's view of the log of an in-memory ledger.
package struct InMemoryEvents: EventReader, LogWatch {
    private let ledger: InMemoryLedger

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the next events after a position that match the filters; times are ignored.
    package func events(
        matching query: EventQuery, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> CursorPage<ShownEvent> {
        var page: [ShownEvent] = []
        var cursor = query.after?.value
        let all = try ledger.read(tenant)
        var rest = (query.order == .oldest ? all : all.reversed())[...]
        if let after = query.after {
            rest = rest.drop { !query.order.isAfter($0.recorded.position, after) }
        }
        while page.count < query.limit, let recording = rest.popFirst() {
            cursor = recording.recorded.position.value
            let text = String(decoding: recording.entry, as: UTF8.self)
            guard query.fragments.allSatisfy(text.contains) else { continue }
            page.append(Self.shown(recording, isDisclosing, only: query.account))
        }
        return CursorPage(elements: page, cursor: cursor, hasMore: !rest.isEmpty)
    }

    /// Returns the event with an id.
    package func event(
        _ id: EventID, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> ShownEvent? {
        try ledger.read(tenant).first { $0.recorded.id == id }.map {
            Self.shown($0, isDisclosing)
        }
    }

    /// Constant: waiting readers poll.
    package var count: UInt64 { 0 }

    /// Waits until the time limit.
    package func wait(since _: UInt64, atMost limit: Duration) async {
        _ = try? await Task.sleep(for: limit)
    }

    /// Returns the disclosures of an identity's last link.
    package func formerLink(
        of identity: IdentityID, to _: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> FormerLink? {
        FormerLink(of: identity, in: try ledger.read(tenant))
    }

    private static func shown(
        _ recording: Recording, _ isDisclosing: Bool, only account: AccountID? = nil
    ) -> ShownEvent {
        let isMeant = account.map { $0 == recording.recorded.accounts.first?.id } ?? true
        return ShownEvent(
            position: recording.recorded.position, entry: recording.entry,
            recorded: recording.recorded, damage: nil,
            disclosures: isDisclosing
                ? (isMeant ? recording.disclosed : []).sorted {
                    $0.name.rawValue < $1.name.rawValue
                } : nil)
    }
}
