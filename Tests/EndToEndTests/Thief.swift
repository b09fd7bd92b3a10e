import Ledger
import LedgerTestSupport
import Postgres

/// Holds the serving login of a deployment, but no key.
struct Thief {
    let deployment: Deployment

    /// Invents a tenant whose log names a MAC key that does not exist.
    func invent(_ name: String) async throws {
        try await run { connection in
            try Self.moveHead(to: 1, in: name, on: connection)
            try Self.insert(
                try Self.entry(of: Self.opening, at: 0, in: name), at: 0, in: name, on: connection)
        }
    }

    /// Runs a body on a connection of the serving login.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        let session = Session(
            url: deployment.tool.environment["DATABASE_URL"] ?? "", applicationName: "thief")
        let value = try await session.run(body)
        await session.close()
        return value
    }

    /// A first event that names another mode and unknown keys.
    static let opening = Event.ledgerOpened(
        LedgerOpened(mode: .development, encryptionKey: "x", macKey: "01234567", tokenKey: "x"))

    /// Sets the next position of a log, which may not exist yet.
    static func moveHead(to next: Int64, in name: String, on connection: Connection) throws {
        _ = try connection.query(
            Statement(
                "forged_head",
                """
                INSERT INTO ledger_head (tenant_id, next_position) VALUES ($1, $2)
                ON CONFLICT (tenant_id) DO UPDATE SET next_position = $2
                """), [.text(name), .int8(next)])
    }

    /// Inserts an event about keys with a wrong MAC.
    static func insert(
        _ entry: [UInt8], at position: Int64, in name: String, on connection: Connection
    ) throws {
        _ = try connection.query(
            Statement(
                "forged_row",
                """
                INSERT INTO events (tenant_id, position, event_id, type, schema_version,
                    recorded_at, command_id, actor, entry, mac)
                VALUES ($1, $2, gen_random_uuid(), 'KeyRotated', 1, now(), gen_random_uuid(),
                    'system', $3, decode(repeat('00', 20), 'hex'))
                """), [.text(name), .int8(position), .bytes(entry)])
    }

    /// Returns the entry of an event at a position.
    static func entry(of event: Event, at position: Int64, in name: String) throws -> [UInt8] {
        EntryEncoding.encode(
            RecordedEvent(
                tenant: tenant(name), position: LogPosition(position),
                id: EventID(bits: 1), recordedAt: Timestamp(microseconds: 1), actor: .system,
                command: CommandID(bits: 1), request: nil, accounts: [], disclosureDigests: [],
                event: event))
    }
}
