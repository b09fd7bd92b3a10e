import Foundation
import Ledger
import LedgerPostgres

/// `keys remove`: destroys a key that nothing needs any more.
enum KeysRemoveCommand {
    /// Longer than any access token lives.
    private static let secondsAfterUse: Int64 = 3_660

    static let syntax = Syntax(
        words: ["keys", "remove"],
        summary: "destroy a former key that nothing needs any more",
        operands: [
            .init(placeholder: "KIND", meaning: "token, encryption or mac"),
            .init(placeholder: "KEY", meaning: "its name, as 'keys list' prints it"),
        ],
        options: [
            .init(
                name: "leaked",
                meaning: "remove a token key at once: its tokens are refused from then on")
        ],
        settings: [.databaseURL, .keys],
        details: """
            Refuses a key that is in use or next, a token key within an hour of its last use, and an
            encryption key that still wraps the key of an account or a webhook's secret, and a MAC key that the
            last mark of a log names or a row has a code by: 'protect' gives such rows others. A backup that was
            made before 'keys rewrap' holds account keys that only the former encryption key unwraps: keep
            a copy of that key as long as such a backup, or its disclosures are lost with it. Servers refuse
            the tokens of a key that was removed within 5 s.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let kind = arguments.operands.first.flatMap(KeyChoice.Kind.init) else {
            throw arguments.misuse("KIND is token, encryption or mac")
        }
        let id = arguments.operands[1]
        let isLeaked = arguments.has("leaked")
        guard !isLeaked || kind == .token else { throw arguments.misuse("--leaked is for token") }
        let book = try OpenedTenants.read(url: try environment.databaseURL)
        let directory = KeyDirectory(path: try environment.required(.keys))
        let lock = try directory.lock()
        defer { try? lock.close() }
        let now = Timestamp.now
        switch kind {
        case .token:
            let beginning = try directory.beginning(of: kind, at: now)
            if !isLeaked, let beginning, now < beginning.adding(seconds: secondsAfterUse) {
                throw Fault(
                    "the token key in use took over less than an hour ago: tokens of others may live;"
                        + " --leaked removes it nevertheless"
                )
            }
        case .mac:
            try refuseUsedMACKey(id, book, url: try environment.databaseURL)
        case .encryption:
            for tenant in book.facts.keys.sorted()
            where try book.usedKey(of: tenant, among: [id]) != nil {
                throw Fault(
                    "encryption key \(id) wraps keys of accounts or webhooks of tenant \(tenant):"
                        + " run \(Syntax.program) keys rewrap")
            }
        }
        try directory.remove(kind, id, now: now)
        Terminal.print("\(kind.rawValue) key \(Arguments.quoted(id)) is destroyed\n")
        return .success
    }

    /// What a former key has authenticated in a log is held by the root that the next mark states.
    private static func refuseUsedMACKey(
        _ id: String, _ book: OpenedTenants, url: String
    ) throws(Fault) {
        for tenant in book.facts.keys.sorted() where book.keys(of: .mac, in: tenant).last == id {
            throw Fault(
                "MAC key \(id) authenticates what is appended to the log of tenant \(tenant)")
        }
        guard let key = MACKey.ID(id) else { return }
        let place = try SchemaCheck.withConnection(to: url) { try MACKeyUse.first(of: key, on: $0) }
        if let place {
            throw Fault("MAC key \(id) authenticates \(place): run \(Syntax.program) protect")
        }
    }
}
