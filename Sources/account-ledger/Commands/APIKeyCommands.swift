import CommandLine
import Cryptography
import Foundation
import Ledger
import LedgerAPI
import LedgerEngine
import LedgerPostgres

/// Shared parts of the commands for API keys.
enum APIKeyCommands {
    static let tenantOption = Syntax.Option(
        name: "tenant", placeholder: "NAME", meaning: "tenant; default: default")

    /// Passes the API key store of an existing tenant to the body, with the schema owner's login.
    static func withStore<Value>(
        _ arguments: Arguments, _ environment: Environment,
        _ body: (APIKeyStore, TenantID) throws -> Value
    ) throws -> Value {
        let (url, setting) = (try environment.migrateURL, environment.migrateSetting)
        let tenant = try LedgerCommands.tenant(arguments, url: url, named: setting) ?? .default
        return try SchemaCheck.withConnection(to: url, named: setting) { connection in
            try body(APIKeyStore(on: connection), tenant)
        }
    }
}

/// `keys api create`: creates an API key and prints it once.
enum APIKeyCreateCommand {
    /// The longest label, in bytes.
    private static let labelBytesMax = 255

    static let syntax = Syntax(
        words: ["keys", "api", "create"],
        summary: "create an API key for an auditor, for support or for an administrator",
        options: [
            .init(
                name: "role", placeholder: "ROLE", meaning: "auditor, support or admin; required"),
            .init(
                name: "label", placeholder: "TEXT", meaning: "owner or purpose; required"),
            APIKeyCommands.tenantOption,
            .init(
                name: "expires", placeholder: "TIME",
                meaning: "RFC 3339, such as 2027-01-31T00:00:00Z; default: never"),
        ],
        settings: [.databaseURL, .migrateURL, .keys],
        details: """
            Prints the key on standard output once: only its digest is stored. Prints on standard error the
            key's id, which lists and the access log use. The key is valid for this tenant only. Uses the
            login of LEDGER_MIGRATE_URL, because the serving login may only read keys. A MAC key of
            LEDGER_KEYS authenticates the stored row. The access log records the creation.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let role = try arguments.value(
            of: "role", as: "auditor, support or admin", Role.init(rawValue:))
        guard let role else { throw arguments.usageError("missing option --role") }
        let label = try arguments.value(of: "label", as: "1 to 255 printable bytes", label)
        guard let label else { throw arguments.usageError("missing option --label") }
        let now = Timestamp.now
        let expiresAt = try arguments.value(of: "expires", as: "an RFC 3339 time in the future") {
            Timestamp(rfc3339: $0).flatMap { $0 > now ? $0 : nil }
        }
        let key = APIKey(id: APIKeyID(at: now, random: SecureRandom.uint128()))
        guard let digest = key.secretDigest else { throw Fault("the key has no digest") }
        guard let macKey = try LedgerCommands.macKeys(environment)?.current else {
            throw Fault(
                "\(Setting.keys.name) is not set: it must hold the MAC key that authenticates the row"
            )
        }
        try APIKeyCommands.withStore(arguments, environment) { store, tenant in
            try store.add(
                StoredAPIKey(
                    id: key.id, role: role, secretDigest: digest, label: label, createdAt: now,
                    expiresAt: expiresAt, revokedAt: nil), to: tenant, macKey: macKey)
        }
        Terminal.print("\(key.text)\n")
        Terminal.printError("key id: \(key.id)")
        return .success
    }

    private static func label(_ text: String) -> String? {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
            default: true
            }
        }
        return isPlain && (1...labelBytesMax).contains(text.utf8.count) ? text : nil
    }
}

/// `keys api list`: prints a tenant's API keys.
enum APIKeyListCommand {
    static let syntax = Syntax(
        words: ["keys", "api", "list"], summary: "print the API keys of a tenant",
        options: [APIKeyCommands.tenantOption], settings: [.databaseURL, .migrateURL],
        details: """
            One line per key: id, role, state (good, expired or revoked), creation time, expiry time and
            label. The keys themselves are not stored.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let keys = try APIKeyCommands.withStore(arguments, environment) { store, tenant in
            try store.keys(of: tenant)
        }
        let now = Timestamp.now
        Terminal.print(
            keys.map { key in
                let state =
                    key.isGood(at: now) ? "good" : key.revokedAt == nil ? "expired" : "revoked"
                let expires = key.expiresAt?.description ?? "never"
                return [
                    key.id.description, key.role.rawValue, state, key.createdAt.description,
                    expires, key.label,
                ].joined(separator: "\t") + "\n"
            }.joined())
        return .success
    }
}

/// `keys api revoke`: revokes an API key.
enum APIKeyRevokeCommand {
    static let syntax = Syntax(
        words: ["keys", "api", "revoke"], summary: "revoke an API key permanently",
        operands: [
            .init(
                placeholder: "ID",
                meaning: "id as printed by keys api list, or the beginning of the key: alk_...")
        ],
        options: [APIKeyCommands.tenantOption], settings: [.databaseURL, .migrateURL],
        details: """
            Every server refuses the key from its next request on. A whole key is accepted as ID too and is
            neither printed nor logged, but stays in the shell's history.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let id = arguments.operands.first.flatMap(APIKey.id(named:)) else {
            throw arguments.usageError(
                "ID must be the id of an API key or the beginning of the key")
        }
        let revocation = try APIKeyCommands.withStore(arguments, environment) { store, tenant in
            try store.revoke(id, of: tenant)
        }
        switch revocation {
        case .revoked: Terminal.print("API key \(id) is revoked\n")
        case .revokedBefore: Terminal.print("API key \(id) was already revoked\n")
        case .unknown: throw Fault("the tenant has no API key \(id)")
        }
        return .success
    }
}
