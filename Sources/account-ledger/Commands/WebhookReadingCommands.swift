import CommandLine
import Cryptography
import Ledger
import LedgerEngine
import LedgerPostgres
import StandardWebhooks

/// `webhooks list`: prints a tenant's webhooks and their progress.
enum WebhookListCommand {
    static let syntax = Syntax(
        words: ["webhooks", "list"], summary: "print the webhooks of a tenant",
        options: [WebhookCommands.tenantOption], settings: WebhookCommands.settings,
        details: """
            One line per webhook: id, state (enabled, disabled, or gone after a 410), next position to
            process, numbers of unprocessed, pending and dead events, event types and URL.
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

/// `webhooks dead-letters`: prints events whose delivery was given up, and the reasons.
enum DeadLettersCommand {
    static let syntax = Syntax(
        words: ["webhooks", "dead-letters"],
        summary: "print the dead letters of a webhook",
        operands: [WebhookCommands.operand], options: [WebhookCommands.tenantOption],
        settings: WebhookCommands.settings,
        details: """
            One line per event, in log order, the first \(WebhookStore.deadLettersMax): position, id, type, number
            of attempts, time of the last attempt, its HTTP status or error, and the accounts that the event
            touches.
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

/// `webhooks replay`: sends dead letters again.
enum WebhookReplayCommand {
    static let syntax = Syntax(
        words: ["webhooks", "replay"], summary: "send dead letters again",
        operands: [WebhookCommands.operand],
        options: [
            .init(name: "position", placeholder: "P", meaning: "only the event at this position"),
            .init(
                name: "all", meaning: "the first \(WebhookStore.deadLettersMax) dead letters"),
            WebhookCommands.tenantOption,
        ],
        settings: WebhookCommands.settings,
        details: """
            The events have the same id and body as before and get the full number of attempts. Later
            undelivered events of the same accounts wait for them.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let id = try WebhookCommands.id(arguments)
        let position = try WebhookCommands.position(arguments, of: "position")
        guard (position == nil) == arguments.has("all") else {
            throw arguments.usageError("exactly one of --position and --all is required")
        }
        let count = try WebhookCommands.withStore(arguments, environment) { store in
            try store.replay(id, position: position)
        }
        guard let count else { throw WebhookCommands.unknown(id) }
        guard count > 0 || position == nil else {
            throw Fault("the webhook has no dead letter at that position")
        }
        Terminal.print("queued \(count) events again\n")
        return .success
    }
}
