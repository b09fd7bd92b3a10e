import Ledger
import LedgerAPI
import LedgerAudit

/// The text format of a timeline: letters stand for the ids of its accounts.
struct TimelineText {
    private let page: TimelinePage
    private let tenant: TenantID
    private let letters: [AccountID: String]

    init(_ page: TimelinePage, of tenant: TenantID) {
        self.page = page
        self.tenant = tenant
        letters = Dictionary(
            uniqueKeysWithValues: page.accounts.enumerated().map {
                ($0.element.id, Self.letter($0.offset))
            })
    }

    /// The header with the accounts of the timeline.
    var heading: String {
        var text = Columns.lines([
            "timeline of account \(page.survivor)", "tenant \(tenant)",
        ])
        text += Columns.lines(["as of \(page.asOf?.text ?? "before the first event")"])
        for account in page.accounts {
            var parts = ["  \(name(account.id))  \(account.id)", account.status.rawValue]
            if let survivor = account.mergedInto { parts.append("into \(name(survivor))") }
            parts.append("\(account.eventCount) events")
            if account.id == page.requested, account.id != page.survivor {
                parts.append("requested")
            }
            text += Columns.lines(parts)
        }
        return text + "\n"
    }

    /// Returns the lines of an event: what happened, the actor, and the changes.
    func lines(of row: TimelineRow) -> String {
        let recorded = row.recorded
        let attributes = recorded.event.fact.attributes
        var text = Columns.lines([
            "#\(recorded.position)", "\(recorded.recordedAt)", sentence(of: row),
        ])
        var parts = ["    by \(name(recorded.actor))"]
        if let reason = attributes.reason { parts.append("reason \(reason)") }
        if let identity = attributes.identity { parts.append("identity \(identity)") }
        parts.append("event \(recorded.id)")
        for (name, value) in row.disclosed?.values ?? [] {
            parts.append("\(name.rawValue) \(ReplayedEvent.printable(value))")
        }
        text += Columns.lines(parts)
        for reference in recorded.accounts {
            guard let change = row.changes[reference.id] else { continue }
            text += lines(of: change, of: reference.id)
        }
        return text
    }

    /// The statement of completeness.
    var ending: String {
        "\n" + Columns.lines(words: "complete: \(page.statement); \(page.log.text)")
    }

    private func sentence(of row: TimelineRow) -> String {
        let recorded = row.recorded
        let fact = recorded.event.fact
        let accounts = recorded.accounts.map { name($0.id) }
        var words = [accounts.first ?? "", fact.verb]
        if let provider = fact.attributes.provider { words.append(provider.description) }
        if accounts.count > 1 {
            if case .conflictRejected = recorded.event { words.append("held by") }
            words.append(accounts[1])
        }
        return words.joined(separator: " ")
    }

    private func lines(of change: TimelineRow.Change, of account: AccountID) -> String {
        guard !change.isEmpty else {
            return Columns.lines(
                words(of: change.before, after: "    \(name(account)) has"), indent: 6,
                separator: " ")
        }
        var text = Columns.lines(
            words(of: change.before, after: "    \(name(account)) had"), indent: 6, separator: " ")
        text += Columns.lines(
            words(of: change.after, after: "    \(name(account)) has"), indent: 6, separator: " ")
        for link in change.before where !change.after.contains(link) {
            text += Columns.lines(["      - \(link.provider)", "identity \(link.identity)"])
        }
        for link in change.after where !change.before.contains(link) {
            text += Columns.lines(["      + \(link.provider)", "identity \(link.identity)"])
        }
        return text
    }

    private func words(of links: [Account.Link], after start: String) -> [String] {
        let names = links.map(\.provider.description)
        guard let last = names.last else { return [start, "nothing"] }
        return [start] + names.dropLast().map { "\($0)," } + [last]
    }

    private func name(_ account: AccountID) -> String {
        letters[account] ?? "account \(account)"
    }

    private func name(_ actor: Actor) -> String {
        switch actor {
        case .account(let account, _): "the holder of \(name(account))"
        case .principal(let principal): "\(principal.role.rawValue), \(principal)"
        case .system: "the system"
        }
    }

    /// Returns A to Z, then BA, BB and so on.
    private static func letter(_ number: Int) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let last = String(letters[number % letters.count])
        return number < letters.count ? last : letter(number / letters.count) + last
    }
}
