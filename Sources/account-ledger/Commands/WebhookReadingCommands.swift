import Cryptography
import Ledger
import LedgerPostgres

/// `webhooks list`: where a tenant's events are sent, and how far that is.
enum WebhookListCommand {
    static let syntax = Syntax(
        words: ["webhooks", "list"], summary: "print the webhooks of a tenant",
        options: [WebhookCommands.tenantOption], settings: WebhookCommands.settings,
        details: """
            A line a webhook: its id, state (enabled, disabled, or gone after a 410), the first position that
            was not looked at, how many events were not looked at, are on their way and were given up, the
            types that are sent, and its address.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let webhooks = try WebhookCommands.withStore(arguments, environment) {
            try $0.webhooks()
        }
        Terminal.print(
            webhooks.map { webhook in
                [
                    webhook.id.description, webhook.state.rawValue, webhook.next.description,
                    "\(webhook.lag) behind", "\(webhook.pending) pending", "\(webhook.dead) dead",
                    webhook.types.isEmpty ? "all" : webhook.types.joined(separator: ","),
                    WebhookAddress.shown(webhook.url),
                ].joined(separator: "\t") + "\n"
            }.joined())
        return .success
    }
}

/// `webhooks dead-letters`: what was given up, and why.
enum DeadLettersCommand {
    static let syntax = Syntax(
        words: ["webhooks", "dead-letters"],
        summary: "print the events that were given up for a webhook",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings,
        details: """
            A line an event, in the order of the log, the first \(WebhookStore.lettersMax): its position, id,
            type, how often it was sent, when last, the status of the last answer or why there was none, and
            the accounts that it touches.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let letters = try WebhookCommands.withStore(arguments, environment) {
            try $0.deadLetters(of: id)
        }
        Terminal.print(
            letters.map { letter in
                [
                    letter.position.description, letter.event.description, letter.type,
                    "\(letter.attempts) attempts", letter.attemptedAt?.description ?? "never",
                    letter.reason, letter.accounts.map(\.description).joined(separator: ","),
                ].joined(separator: "\t") + "\n"
            }.joined())
        return .success
    }
}

/// `webhooks replay`: sends what was given up again.
enum WebhookReplayCommand {
    static let syntax = Syntax(
        words: ["webhooks", "replay"], summary: "send events again that were given up",
        operands: [WebhookCommands.operand],
        options: [
            .init(name: "position", placeholder: "P", meaning: "only the event of this position"),
            .init(
                name: "all", meaning: "the first \(WebhookStore.lettersMax) that were given up"),
            WebhookCommands.tenantOption,
        ],
        settings: WebhookCommands.settings,
        details: """
            They come with the same id and body as before, and with as many attempts as anew. Later events of
            the same accounts that are not delivered yet wait for them.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let position = try WebhookCommands.position(arguments, of: "position")
        guard (position == nil) == arguments.has("all") else {
            throw arguments.misuse("either --position or --all says what to send again")
        }
        let count = try WebhookCommands.withStore(arguments, environment) { store in
            try store.replay(id, position: position)
        }
        guard let count else { throw WebhookCommands.unknown(id) }
        guard count > 0 || position == nil else {
            throw Fault("the event of that position is no dead letter of the webhook")
        }
        Terminal.print("\(count) events are sent again\n")
        return .success
    }
}
