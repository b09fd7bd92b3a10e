/// A command as a client knows it: what it asked, by which requests, and whether it was told yes.
package struct TrafficCommand: Sendable {
    /// What the log holds of a command that was carried out: types of events and their numbers.
    package enum Kind: String, CaseIterable, Sendable {
        case signUp, link, unlink, signOut

        var events: [String: Int] {
            switch self {
            case .signUp: ["AccountOpened": 1, "ProviderLinked": 1, "SignedIn": 1]
            case .link: ["ProviderLinked": 1]
            case .unlink: ["ProviderUnlinked": 1]
            case .signOut: ["SignedOut": 1]
            }
        }
    }

    let kind: Kind
    /// The ids of its requests: one, or several under one idempotency key.
    var requests: [String]
    var isAcknowledged: Bool
    /// What the log holds of it when it was carried out.
    private(set) var events: [String: Int]

    /// Describes a command and what a client was told of it.
    package init(_ kind: Kind, requests: [String] = [], isAcknowledged: Bool = false) {
        self.kind = kind
        self.requests = requests
        self.isAcknowledged = isAcknowledged
        events = kind.events
    }

    /// The same command, which ought to have appended one more event.
    package func expecting(_ type: String) -> TrafficCommand {
        var command = self
        command.events[type, default: 0] += 1
        return command
    }
}
