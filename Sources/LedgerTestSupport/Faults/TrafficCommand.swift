/// A command from a client's view: its kind, its requests, and whether it was acknowledged.
package struct TrafficCommand: Sendable {
    /// The kinds of commands, with the types and numbers of their events in the log.
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
    /// The expected events in the log.
    private(set) var events: [String: Int]

    /// Creates a command with its acknowledgement.
    package init(_ kind: Kind, requests: [String] = [], isAcknowledged: Bool = false) {
        self.kind = kind
        self.requests = requests
        self.isAcknowledged = isAcknowledged
        events = kind.events
    }

    /// Returns the command with another expected event.
    package func expecting(_ type: String) -> TrafficCommand {
        var command = self
        command.events[type, default: 0] += 1
        return command
    }
}
