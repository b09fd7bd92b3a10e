import CommandLine
import Ledger
import LedgerAudit
import LedgerEngine

/// Shared parts of the commands that read the history of an account.
enum HistoryCommands {
    enum Format: String {
        case text
        case json
    }

    static let account = Syntax.Operand(placeholder: "ACCOUNT", meaning: "account id")

    static let tenantOption = Syntax.Option(
        name: "tenant", placeholder: "NAME", meaning: "tenant; default: default")

    static let asOfOption = Syntax.Option(
        name: "as-of", placeholder: "MOMENT",
        meaning: "position, or a time such as 2026-11-21T08:30:00Z; default: now")

    static let formatOption = Syntax.Option(
        name: "format", placeholder: "FORMAT", meaning: "text or json; default: text")

    private static let momentForm = "a position or an RFC 3339 time"

    static func account(_ arguments: Arguments) throws(UsageError) -> AccountID {
        guard let account = arguments.operands.first.flatMap({ AccountID($0) }) else {
            throw arguments.usageError("ACCOUNT must be an account id: a UUID")
        }
        return account
    }

    static func moment(_ option: String, _ arguments: Arguments) throws(UsageError) -> Moment? {
        try arguments.value(of: option, as: momentForm) { Moment($0) }
    }

    static func secondMoment(
        _ option: String, _ arguments: Arguments
    ) throws(UsageError) -> Moment? {
        try arguments.secondValue(of: option, as: momentForm) { Moment($0) }
    }

    static func format(_ arguments: Arguments) throws(UsageError) -> Format {
        try arguments.value(of: "format", as: "text or json", Format.init(rawValue:)) ?? .text
    }

    /// Creates a reader without the time limit of HTTP requests.
    static func reads(_ url: String, keyring: WrappingKeyring?, _ faults: LastFault) -> HistoryReads
    {
        HistoryReads(
            url: url, keyring: keyring, connections: 1, searchesWholeLog: true,
            deadline: .seconds(600), patience: nil, onFault: { faults.note($0) })
    }

    /// The line for a read that failed.
    static func fault(_ fault: HistoryFault, _ faults: LastFault) -> Fault {
        switch fault {
        case .notReached(let size):
            Fault("the log has only \(size) events: the moment is after its end")
        case .backwards: Fault("the first moment is after the second")
        case .unavailable, .damaged: Fault(faults.last ?? "unknown cause")
        }
    }

    static func unknown(_ account: AccountID, in tenant: TenantID) -> Fault {
        Fault("no account \(account) in tenant \(tenant)")
    }
}
