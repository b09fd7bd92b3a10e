package import Ledger

/// The MACs of a log created by a measurement, identical to those of a server.
package struct LoadedLogMACs {
    private let tenant: TenantID
    private let log: EventID
    private let key: MACKey

    /// Creates the MACs of a log with this first event, all with one key.
    package init(of tenant: TenantID, log: EventID, key: MACKey) {
        self.tenant = tenant
        self.log = log
        self.key = key
    }

    /// Returns the MAC of an event.
    package func mac(at position: LogPosition, leaf: Digest) -> [UInt8] {
        key.mac(
            of: .entry(tenant: tenant, log: log, number: 1, position: position, leaf: leaf)
        ).bytes
    }

    /// Returns the MAC of a row of `identities`.
    package func mac(of identity: Identity, named subject: Subject) -> [UInt8] {
        key.mac(of: .identity(identity, named: subject, of: tenant)).bytes
    }

    /// Returns the MAC of a live row of `sessions`.
    package func mac(of session: Session, _ token: RefreshTokenState) -> [UInt8] {
        key.mac(of: .session(session, token, of: tenant)).bytes
    }

    /// Returns the MAC of the head after the last event of a log protected from its first event
    /// on.
    package func head(next: LogPosition, recordedAt: Timestamp) -> [UInt8] {
        let head = LogMACs.Head(
            nextPosition: next, recordedAt: recordedAt, log: log, number: 1,
            protectedFrom: LogPosition(0), rulesVersion: nil)
        return key.mac(of: .head(head, of: tenant)).bytes
    }
}
