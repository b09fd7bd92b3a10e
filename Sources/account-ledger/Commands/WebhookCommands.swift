import CommandLine
import Cryptography
import HTTP
import Ledger
import LedgerEngine
import LedgerPostgres
import StandardWebhooks

/// Shared parts of the commands for webhooks.
enum WebhookCommands {
    static let tenantOption = APIKeyCommands.tenantOption
    static let operand = Syntax.Operand(
        placeholder: "ID", meaning: "webhook id as printed by webhooks list")
    static let settings: [Setting] = [.databaseURL, .migrateURL]

    /// Passes the webhook store of an existing tenant to the body, with the schema owner's login.
    static func withStore<Value>(
        _ arguments: Arguments, _ environment: Environment,
        _ body: (WebhookStore) throws -> Value
    ) throws -> Value {
        let (url, setting) = (try environment.migrateURL, environment.migrateSetting)
        let tenant = try LedgerCommands.tenant(arguments, url: url, named: setting) ?? .default
        return try SchemaCheck.withConnection(to: url, named: setting) { connection in
            try body(WebhookStore(tenant, at: .now, on: connection))
        }
    }

    /// Returns the id that the command line names.
    ///
    /// - Throws: `UsageError` when it is malformed.
    static func id(_ arguments: Arguments) throws(UsageError) -> WebhookID {
        guard let id = arguments.operands.first.flatMap({ WebhookID($0) }) else {
            throw arguments.usageError("ID must be a webhook id: a UUID")
        }
        return id
    }

    /// Returns the keys that wrap secrets.
    ///
    /// - Throws: `Fault` when there are no keys.
    static func keyring(_ environment: Environment) throws(Fault) -> WrappingKeyring {
        guard let keyring = try LedgerCommands.keyring(environment) else {
            throw Fault("\(Setting.keys.name) is not set: \(Setting.keys.meaning)")
        }
        return keyring
    }

    /// Returns the position that an option names.
    ///
    /// - Throws: `UsageError` when it is malformed.
    static func position(
        _ arguments: Arguments, of option: String
    ) throws(UsageError) -> LogPosition? {
        try arguments.value(of: option, as: "a position in the log") {
            Int64($0).flatMap { $0 >= 0 ? LogPosition($0) : nil }
        }
    }

    /// Makes the fault for an unknown webhook.
    static func unknown(_ id: WebhookID) -> Fault {
        Fault("the tenant has no webhook \(id)")
    }
}

/// `webhooks add`: adds a webhook.
enum WebhookAddCommand {
    /// The longest URL, in bytes.
    private static let urlBytesMax = 2_048

    static let syntax = Syntax(
        words: ["webhooks", "add"], summary: "send a tenant's events to a URL",
        operands: [.init(placeholder: "URL", meaning: "https, or http for this machine")],
        options: [
            .init(
                name: "types", placeholder: "LIST",
                meaning: "event types, comma-separated, such as AccountsMerged; default: all"),
            .init(
                name: "from", placeholder: "P",
                meaning: "first position to send; default: the end of the log"),
            .init(
                name: "allow-private",
                meaning: "allow a URL of this machine or a private network in production"
            ),
            WebhookCommands.tenantOption,
        ],
        settings: WebhookCommands.settings + [.keys, .mode],
        details: """
            Prints the webhook's id and its secret, once: the secret is stored encrypted. A receiver uses it
            to verify the headers of https://www.standardwebhooks.com. Uses the login of LEDGER_MIGRATE_URL,
            because a webhook receives the log. Servers start sending within two seconds. The access log
            records the addition.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try url(arguments, environment)
        let types =
            try arguments.value(of: "types", as: "a comma-separated list of event types", types)
            ?? []
        let from = try WebhookCommands.position(arguments, of: "from")
        let keyring = try WebhookCommands.keyring(environment)
        let id = WebhookID(at: .now, random: SecureRandom.uint128())
        let secret = WebhookSecret.generate()
        let first = try WebhookCommands.withStore(arguments, environment) { store in
            try store.add(id, url: url, types: types, from: from, secret: secret, keyring: keyring)
        }
        guard let first else { throw Fault("--from is after the end of the log") }
        Terminal.print(
            "webhook \(id) sends events from position \(first) on\n\(secret.text)\n")
        return .success
    }

    /// Returns the URL that the command line names.
    ///
    /// - Throws: `UsageError` for a URL that is not allowed, `Fault` for an invalid mode.
    private static func url(_ arguments: Arguments, _ environment: Environment) throws -> String {
        let form = "URL must be an https URL, or http for this machine"
        guard let url = arguments.operands.first, url.utf8.count <= urlBytesMax,
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw arguments.usageError(form) }
        let host: String
        do throws(WebhookAddress.Flaw) {
            host = try WebhookAddress(url).host
        } catch {
            switch error {
            case .form: throw arguments.usageError(form)
            case .userInfo:
                throw arguments.usageError(
                    "URL must not contain a user or a password, which would be stored in plain text"
                )
            case .fragment:
                throw arguments.usageError("URL must not have a fragment (#...)")
            }
        }
        let isInside =
            host == "localhost" || host.hasSuffix(".localhost")
            || IPAddress(host).map { !$0.isPublic } ?? false
        let mode = try environment.mode
        guard !isInside || mode == .development || arguments.has("allow-private") else {
            throw arguments.usageError(
                "URL is on this machine or a private network: --allow-private allows it"
            )
        }
        return url
    }

    private static func types(_ text: String) -> [Event.Name]? {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { Event.Name(rawValue: String($0)) }
        return names.contains(nil) ? nil : names.compactMap(\.self)
    }
}

/// `webhooks rotate-secret`: replaces the signing secret.
enum WebhookRotateCommand {
    static let syntax = Syntax(
        words: ["webhooks", "rotate-secret"], summary: "replace the secret of a webhook",
        operands: [WebhookCommands.operand],
        options: [
            .init(
                name: "overlap", placeholder: "SECONDS",
                meaning: "how long the former secret also signs; default: 86400"),
            WebhookCommands.tenantOption,
        ],
        settings: WebhookCommands.settings + [.keys],
        details: """
            Prints the new secret, once. Until the overlap ends, each request has a signature with either
            secret, which gives the receiver time to change. --overlap 0 ends the former one immediately.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let overlap =
            try arguments.value(of: "overlap", as: "a number of seconds, at most 30 days") { text in
                Int64(text).flatMap { (0...2_592_000).contains($0) ? $0 : nil }
            } ?? 86_400
        let keyring = try WebhookCommands.keyring(environment)
        let secret = WebhookSecret.generate()
        let isThere = try WebhookCommands.withStore(arguments, environment) { store in
            try store.rotate(id, to: secret, overlapSeconds: overlap, keyring: keyring)
        }
        guard isThere else { throw WebhookCommands.unknown(id) }
        Terminal.print("\(secret.text)\n")
        return .success
    }
}

/// `webhooks enable`: resumes sending after `disable`, after a receiver answered 410, or once it has recovered.
enum WebhookEnableCommand {
    static let syntax = Syntax(
        words: ["webhooks", "enable"], summary: "resume sending to a webhook",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings,
        details: """
            Events appended in the meantime are sent too. Also resumes after the receiver has answered 410.
            Pending events are sent immediately instead of at their next attempt, also if the webhook is
            already enabled.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        try WebhookDisableCommand.set(true, arguments, environment)
    }
}

/// `webhooks disable`: pauses sending.
enum WebhookDisableCommand {
    static let syntax = Syntax(
        words: ["webhooks", "disable"], summary: "pause sending to a webhook",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings,
        details: "No event is lost: webhooks enable resumes at the same position.")

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        try set(false, arguments, environment)
    }

    static func set(
        _ isEnabled: Bool, _ arguments: Arguments, _ environment: Environment
    ) throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let isThere = try WebhookCommands.withStore(arguments, environment) { store in
            try store.setEnabled(isEnabled, id)
        }
        guard isThere else { throw WebhookCommands.unknown(id) }
        Terminal.print("webhook \(id) is \(isEnabled ? "enabled" : "disabled")\n")
        return .success
    }
}

/// `webhooks remove`: deletes a webhook and its pending events.
enum WebhookRemoveCommand {
    static let syntax = Syntax(
        words: ["webhooks", "remove"],
        summary: "delete a webhook, its secrets and its dead letters",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let isThere = try WebhookCommands.withStore(arguments, environment) { try $0.remove(id) }
        guard isThere else { throw WebhookCommands.unknown(id) }
        Terminal.print("webhook \(id) was removed\n")
        return .success
    }
}
