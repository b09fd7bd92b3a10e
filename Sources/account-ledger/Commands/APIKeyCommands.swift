import Cryptography
import Foundation
import Ledger
import LedgerAPI
import LedgerPostgres

/// What the commands about API keys have in common.
enum APIKeyCommands {
    static let tenantOption = Syntax.Option(
        name: "tenant", placeholder: "NAME", meaning: "the tenant; default: default")

    /// Lends the keys of a tenant that exists, as the owner of the schema.
    static func withStore<Value>(
        _ arguments: Arguments, _ environment: Environment,
        _ body: (APIKeyStore, TenantID) throws -> Value
    ) throws -> Value {
        let url = try environment.migrateURL
        let tenant = try LedgerReading.tenant(arguments, url: url) ?? .default
        return try SchemaCheck.withConnection(to: url) { connection in
            try body(APIKeyStore(on: connection), tenant)
        }
    }
}

/// `keys api create`: makes an API key and shows it this once.
enum APIKeyCreateCommand {
    /// The longest label, in bytes.
    private static let labelBytesMax = 255

    static let syntax = Syntax(
        words: ["keys", "api", "create"],
        summary: "make an API key for an auditor, for support or for an administrator",
        options: [
            .init(
                name: "role", placeholder: "ROLE", meaning: "auditor, support or admin; required"),
            .init(
                name: "label", placeholder: "TEXT", meaning: "whose it is or what for; required"),
            APIKeyCommands.tenantOption,
            .init(
                name: "expires", placeholder: "TIME",
                meaning: "RFC 3339, such as 2027-01-31T00:00:00Z; default: never"),
        ],
        settings: [.databaseURL, .migrateURL, .keys],
        details: """
            Prints the key on standard output, once: only its digest is stored. Its id, which lists and the
            access log name it by, is printed on standard error. The key is good for this tenant alone. Runs
            with the login of LEDGER_MIGRATE_URL, since the serving login may only read keys; a MAC key of
            LEDGER_KEYS authenticates what is stored. The access log says that it was made.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let role = try arguments.value(
            of: "role", as: "auditor, support or admin", Role.init(rawValue:))
        guard let role else { throw arguments.misuse("--role is missing") }
        let label = try arguments.value(of: "label", as: "1 to 255 printable bytes", label)
        guard let label else { throw arguments.misuse("--label is missing") }
        let now = Timestamp.now
        let expiresAt = try arguments.value(of: "expires", as: "an RFC 3339 time to come") {
            Timestamp(rfc3339: $0).flatMap { $0 > now ? $0 : nil }
        }
        let key = APIKey(id: APIKeyID(at: now, random: SecureRandom.uint128()))
        guard let digest = key.secretDigest else { throw Fault("the key has no digest") }
        guard let macKey = try LedgerReading.macKeys(environment)?.current else {
            throw Fault("\(Setting.keys.name) is not set: a key of it authenticates what is stored")
        }
        try APIKeyCommands.withStore(arguments, environment) { store, tenant in
            try store.add(
                StoredAPIKey(
                    id: key.id, role: role, secretDigest: digest, label: label, createdAt: now,
                    expiresAt: expiresAt, revokedAt: nil), to: tenant, code: macKey)
        }
        Terminal.print("\(key.text)\n")
        Terminal.complain("the id of the key is \(key.id)")
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

/// `keys api list`: which API keys a tenant has.
enum APIKeyListCommand {
    static let syntax = Syntax(
        words: ["keys", "api", "list"], summary: "print the API keys of a tenant",
        options: [APIKeyCommands.tenantOption], settings: [.databaseURL, .migrateURL],
        details: """
            A line a key: its id, role, state (good, expired or revoked), when it was made, when it
            expires, and its label. The keys themselves are stored nowhere.
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

/// `keys api revoke`: ends an API key.
enum APIKeyRevokeCommand {
    static let syntax = Syntax(
        words: ["keys", "api", "revoke"], summary: "end an API key for good",
        operands: [
            .init(
                placeholder: "ID",
                meaning: "as keys api list prints it, or how the key begins, alk_ and what follows")
        ],
        options: [APIKeyCommands.tenantOption], settings: [.databaseURL, .migrateURL],
        details: """
            Every server refuses the key from its next request on. A whole key is taken, too, and is
            printed and logged nowhere; the shell's history has it then.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let id = arguments.operands.first.flatMap(APIKey.id(named:)) else {
            throw arguments.misuse("ID is the id of a key, or how the key begins")
        }
        let revocation = try APIKeyCommands.withStore(arguments, environment) { store, tenant in
            try store.revoke(id, of: tenant)
        }
        switch revocation {
        case .revoked: Terminal.print("API key \(id) is revoked\n")
        case .revokedBefore: Terminal.print("API key \(id) was revoked before\n")
        case .unknown: throw Fault("the tenant has no API key \(id)")
        }
        return .success
    }
}
