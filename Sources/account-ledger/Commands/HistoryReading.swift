import Ledger
import LedgerPostgres

/// What the commands about one account's past have in common.
enum HistoryReading {
    enum Format: String {
        case text
        case json
    }

    static let account = Syntax.Operand(placeholder: "ACCOUNT", meaning: "the account's id")

    static let tenantOption = Syntax.Option(
        name: "tenant", placeholder: "NAME", meaning: "the tenant; default: default")

    static let asOfOption = Syntax.Option(
        name: "as-of", placeholder: "MOMENT",
        meaning: "a position, or a time such as 2026-11-21T08:30:00Z; default: now")

    static let formatOption = Syntax.Option(
        name: "format", placeholder: "FORMAT", meaning: "text or json; default: text")

    private static let momentForm = "a position or a time of RFC 3339"

    static func account(_ arguments: Arguments) throws(UsageError) -> AccountID {
        guard let account = arguments.operands.first.flatMap({ AccountID($0) }) else {
            throw arguments.misuse("ACCOUNT wants an account's id")
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

    /// A reader for who can wait.
    static func reads(_ url: String, keyring: WrappingKeyring?, _ faults: FaultNote) -> HistoryReads
    {
        HistoryReads(
            url: url, keyring: keyring, connections: 1, searchesWholeLog: true,
            deadline: .seconds(600), patience: nil, onFault: { faults.note($0) })
    }

    /// What there is to say when there is no answer.
    static func fault(_ fault: HistoryFault, _ faults: FaultNote) -> Fault {
        switch fault {
        case .notReached(let size):
            Fault("the log has \(size) events: the moment has not come yet")
        case .backwards: Fault("the first moment is after the second")
        case .unavailable, .damaged: Fault(faults.last ?? "no reason known")
        }
    }

    static func unknown(_ account: AccountID, in tenant: TenantID) -> Fault {
        Fault("tenant \(tenant) has no account \(account)")
    }
}
