import Cryptography
import HTTP
import Ledger
import LedgerPostgres

/// What the commands about webhooks have in common.
enum WebhookCommands {
    static let tenantOption = APIKeyCommands.tenantOption
    static let operand = Syntax.Operand(
        placeholder: "ID", meaning: "as webhooks list prints it")
    static let settings: [Setting] = [.databaseURL, .migrateURL]

    /// Lends the webhooks of a tenant that exists, as the owner of the schema.
    static func withStore<Value>(
        _ arguments: Arguments, _ environment: Environment,
        _ body: (WebhookStore) throws -> Value
    ) throws -> Value {
        let url = try environment.migrateURL
        let tenant = try LedgerReading.tenant(arguments, url: url) ?? .default
        return try SchemaCheck.withConnection(to: url) { connection in
            try body(WebhookStore(tenant, at: .now, on: connection))
        }
    }

    /// The id that the command line names.
    ///
    /// - Throws: `UsageError` when it can be none.
    static func id(_ arguments: Arguments) throws(UsageError) -> WebhookID {
        guard let id = arguments.operands.first.flatMap({ WebhookID($0) }) else {
            throw arguments.misuse("ID is the id of a webhook: a UUID")
        }
        return id
    }

    /// What wraps secrets.
    ///
    /// - Throws: `Fault` when there are no keys.
    static func keyring(_ environment: Environment) throws(Fault) -> WrappingKeyring {
        guard let keyring = try LedgerReading.keyring(environment) else {
            throw Fault("\(Setting.keys.name) is not set: \(Setting.keys.meaning)")
        }
        return keyring
    }

    /// A position that an option names.
    ///
    /// - Throws: `UsageError` for what is none.
    static func position(
        _ arguments: Arguments, of option: String
    ) throws(UsageError) -> LogPosition? {
        try arguments.value(of: option, as: "a position of the log") {
            Int64($0).flatMap { $0 >= 0 ? LogPosition($0) : nil }
        }
    }

    /// What a command says about an endpoint that is not there.
    static func unknown(_ id: WebhookID) -> Fault {
        Fault("the tenant has no webhook \(id)")
    }
}

/// `webhooks add`: has events sent to an address.
enum WebhookAddCommand {
    /// The longest address, in bytes.
    private static let urlBytesMax = 2_048

    static let syntax = Syntax(
        words: ["webhooks", "add"], summary: "have a tenant's events sent to an address",
        operands: [.init(placeholder: "URL", meaning: "https, or http to this machine")],
        options: [
            .init(
                name: "types", placeholder: "LIST",
                meaning: "event types, comma-separated, such as AccountsMerged; default: all"),
            .init(
                name: "from", placeholder: "P",
                meaning: "the first position to send; default: what is appended from now on"),
            .init(
                name: "allow-private",
                meaning: "take an address of this machine or of a network of its own, in production"
            ),
            WebhookCommands.tenantOption,
        ],
        settings: WebhookCommands.settings + [.keys, .mode],
        details: """
            Prints the webhook's id and its secret, once: the secret is stored encrypted. A receiver checks
            the headers of https://www.standardwebhooks.com with it. Runs with the login of
            LEDGER_MIGRATE_URL, since whoever may set an address has the log sent to it. Servers take it up
            within a second or two. The access log says that it was added.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try url(arguments, environment)
        let types = try arguments.value(of: "types", as: "names of event types", types) ?? []
        let from = try WebhookCommands.position(arguments, of: "from")
        let keyring = try WebhookCommands.keyring(environment)
        let id = WebhookID(at: .now, random: SecureRandom.uint128())
        let secret = WebhookSecret.generate()
        let first = try WebhookCommands.withStore(arguments, environment) { store in
            try store.add(id, url: url, types: types, from: from, secret: secret, keyring: keyring)
        }
        guard let first else { throw Fault("the log does not reach so far") }
        Terminal.print(
            "webhook \(id) sends what is from position \(first) on\n\(secret.text)\n")
        return .success
    }

    /// The address that the command line names.
    ///
    /// - Throws: `UsageError` for one that no endpoint may have, or `Fault` for a mode that is none.
    private static func url(_ arguments: Arguments, _ environment: Environment) throws -> String {
        let form = "URL is an https address, or http to this machine"
        guard let url = arguments.operands.first, url.utf8.count <= urlBytesMax,
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw arguments.misuse(form) }
        let host: String
        do throws(WebhookAddress.Flaw) {
            host = try WebhookAddress(url).host
        } catch {
            switch error {
            case .form: throw arguments.misuse(form)
            case .userInfo:
                throw arguments.misuse(
                    "URL has a user or a password, which is kept in clear: requests are signed")
            case .fragment:
                throw arguments.misuse("URL has a fragment (#...), which no request carries")
            }
        }
        let isInside =
            host == "localhost" || host.hasSuffix(".localhost")
            || IPAddress(host).map { !$0.isPublic } ?? false
        let mode = try environment.mode
        guard !isInside || mode == .development || arguments.has("allow-private") else {
            throw arguments.misuse(
                "URL is this machine or in a network of its own: --allow-private says that it is meant"
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

/// `webhooks rotate-secret`: replaces what signs.
enum WebhookRotateCommand {
    static let syntax = Syntax(
        words: ["webhooks", "rotate-secret"], summary: "give a webhook another secret",
        operands: [WebhookCommands.operand],
        options: [
            .init(
                name: "overlap", placeholder: "SECONDS",
                meaning: "how long the former secret signs as well; default: 86400"),
            WebhookCommands.tenantOption,
        ],
        settings: WebhookCommands.settings + [.keys],
        details: """
            Prints the new secret, once. Until the overlap is over each request has a signature by either, so
            that the receiver can change at its ease. --overlap 0 ends the former one at once.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let overlap =
            try arguments.value(of: "overlap", as: "seconds, at most 30 days") { text in
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

/// `webhooks enable`: begins sending again, after `disable` or after a receiver said that it is gone.
enum WebhookEnableCommand {
    static let syntax = Syntax(
        words: ["webhooks", "enable"], summary: "begin sending to a webhook again",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings,
        details: """
            What was appended meanwhile is sent, too. This is also the way back after the receiver has
            answered 410.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        try WebhookDisableCommand.set(true, arguments, environment)
    }
}

/// `webhooks disable`: ends sending, for the time being.
enum WebhookDisableCommand {
    static let syntax = Syntax(
        words: ["webhooks", "disable"], summary: "send nothing to a webhook for the time being",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings,
        details: "Nothing is lost: the log keeps what is to be sent, until webhooks enable.")

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

/// `webhooks remove`: forgets an address and everything that is on its way to it.
enum WebhookRemoveCommand {
    static let syntax = Syntax(
        words: ["webhooks", "remove"], summary: "forget a webhook, its secrets and dead letters",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let isThere = try WebhookCommands.withStore(arguments, environment) { try $0.remove(id) }
        guard isThere else { throw WebhookCommands.unknown(id) }
        Terminal.print("webhook \(id) is removed\n")
        return .success
    }
}
