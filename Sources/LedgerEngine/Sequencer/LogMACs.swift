package import Ledger

/// Computes the MACs of one tenant's events and of its head, in the order of the log.
///
/// The head records the key in use, under the lock, so that every process changes to another key at
/// the same position.
package struct LogMACs {
    let tenant: TenantID
    private let keys: MACKeys
    /// The id of the log's first event; nil before there is one.
    private var log: EventID?
    /// The number of the log's current origin.
    private var number: Int64 = 1
    /// The position from which every event has a MAC; nil while nothing in the log says so.
    package private(set) var protectedFrom: LogPosition?
    /// The version of the rules when the head was loaded; nil for a log without rules.
    package private(set) var rulesVersion: Int64?
    /// The key in use; nil until it is first needed.
    private var key: MACKey?

    /// Creates the MACs of a log before its head is loaded.
    package init(tenant: TenantID, keys: MACKeys) {
        self.tenant = tenant
        self.keys = keys
    }

    /// The content of a head's row.
    package struct Head {
        package let nextPosition: LogPosition
        package let recordedAt: Timestamp
        package let log: EventID?
        package let number: Int64
        package let protectedFrom: LogPosition?
        package let rulesVersion: Int64?

        /// Creates the content of a row from its columns.
        package init(
            nextPosition: LogPosition, recordedAt: Timestamp, log: EventID?, number: Int64,
            protectedFrom: LogPosition?, rulesVersion: Int64?
        ) {
            self.nextPosition = nextPosition
            self.recordedAt = recordedAt
            self.log = log
            self.number = number
            self.protectedFrom = protectedFrom
            self.rulesVersion = rulesVersion
        }
    }

    /// Loads a head's row.
    ///
    /// - Parameters:
    ///   - head: The row's content.
    ///   - stored: The row's MAC; nil if no server of this release has written it.
    ///   - logSaysProtected: Whether the log says that it is protected, and the head does not.
    /// - Throws: `BatchFault.damaged` if no holder of the key has written the row, it was written
    ///   before the log was protected, or it has no protection and every log must have it.
    package mutating func load(
        _ head: Head, stored: [UInt8]?, logSaysProtected: Bool
    ) throws(BatchFault) {
        let isNew = head.nextPosition.value == 0 && head.log == nil
        guard !logSaysProtected,
            isNew || keys.allowsUnprotected || (stored != nil && head.protectedFrom != nil)
        else { throw .damaged("ledger_head.mac of tenant \(tenant)") }
        if let stored {
            guard let mac = MAC(stored), let used = keys.key(mac.key),
                used.mac(of: .head(head, of: tenant)).matches(mac)
            else { throw .damaged("ledger_head.mac of tenant \(tenant)") }
            key = used
        } else if head.protectedFrom != nil {
            throw .damaged("ledger_head.mac of tenant \(tenant)")
        }
        log = head.log
        number = head.number
        protectedFrom = head.protectedFrom
        rulesVersion = head.rulesVersion
    }

    /// Returns the MAC of an event to append, with the key that applies to it.
    ///
    /// - Throws: `BatchFault.damaged` if the key is not available.
    package mutating func mac(of recording: Recording) throws(BatchFault) -> [UInt8] {
        let recorded = recording.recorded
        switch recorded.event {
        case .ledgerOpened(let fact):
            log = recorded.id
            if let name = fact.macKey {
                try change(to: name)
                protectedFrom = recorded.position
            }
        case .keyRotated(let fact):
            guard let prefix = fact.prefix else { break }
            try change(to: fact.key)
            if protectedFrom == nil { protectedFrom = LogPosition(prefix.size) }
        case .ledgerRestored(let fact):
            number = fact.origin
        default:
            break
        }
        guard let log else { throw .damaged("ledger_head.log_id of tenant \(tenant)") }
        return try keyInUse().mac(
            of: .entry(
                tenant: tenant, log: log, number: number, position: recorded.position,
                leaf: recording.leaf)
        ).bytes
    }

    /// Returns the head's row after the last event.
    package func head(_ ledger: LedgerState) -> Head {
        Head(
            nextPosition: ledger.nextPosition, recordedAt: ledger.lastRecordedAt, log: log,
            number: number, protectedFrom: protectedFrom,
            rulesVersion: ledger.rules?.rulesVersion)
    }

    /// Returns the MAC of a row of decision state, or of the head, with the key in use.
    ///
    /// - Throws: `BatchFault.damaged` if no key is available.
    package mutating func mac(of message: MACMessage) throws(BatchFault) -> [UInt8] {
        try keyInUse().mac(of: message).bytes
    }

    /// Whether a row without a MAC is valid: while the log is not protected, and need not be.
    package var acceptsRowsWithoutMACs: Bool { protectedFrom == nil && keys.allowsUnprotected }

    /// Checks a row's stored MAC.
    package func accept(_ stored: [UInt8]?, of message: @autoclosure () -> MACMessage) -> Bool {
        guard let stored else { return acceptsRowsWithoutMACs }
        return keys.accept(stored, of: message())
    }

    private mutating func keyInUse() throws(BatchFault) -> MACKey {
        if let key { return key }
        guard let current = keys.current else { throw .damaged("no MAC key is at hand") }
        key = current
        return current
    }

    private mutating func change(to name: String) throws(BatchFault) {
        guard let id = MACKey.ID(name), let named = keys.key(id) else {
            throw .damaged("the MAC key \(name) is not at hand")
        }
        key = named
    }
}

extension MACMessage {
    /// A head; that of a log without rules has the bytes of releases without rules.
    package static func head(_ head: LogMACs.Head, of tenant: TenantID) -> MACMessage {
        var message = MACMessage(.head, tenant: tenant.description)
        message.int8(head.nextPosition.value)
        message.int8(head.recordedAt.microseconds)
        message.optional(head.log) { $0.uuid($1.bits) }
        message.int8(head.number)
        message.optional(head.protectedFrom) { $0.int8($1.value) }
        if let version = head.rulesVersion { message.int8(version) }
        return message
    }
}
