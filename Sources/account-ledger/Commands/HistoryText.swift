import Ledger
import LedgerAudit

extension AccountAsOf {
    /// The text format.
    var text: String {
        var lines = ["account \(account.id) of tenant \(account.tenant)"]
        lines.append("as of \(asOf?.text ?? "before the first event"); \(log.text)")
        lines += account.lines
        return lines.map { $0 + "\n" }.joined()
    }
}

extension AccountChanges {
    /// The text format.
    var text: String {
        let to = difference.to
        var lines = ["account \(to.id) of tenant \(to.tenant)"]
        lines.append(
            "from \(from?.text ?? "before the first event")"
                + " to \(page.asOf?.text ?? "before the first event"); \(page.log.text)")
        if difference.from.status != to.status {
            lines.append("  was \(difference.from.status.rawValue), is \(to.status.rawValue)")
        }
        lines += difference.addedLinks.map { "+ \($0.text)" }
        lines += difference.removedLinks.map { "- \($0.text)" }
        lines += difference.openedSessions.map { "+ \($0.text)" }
        lines += difference.endedSessions.map { "- \($0.text)" }
        let between = to.eventCount - difference.from.eventCount
        lines.append("\(between) events in between, each naming the one before it")
        lines += page.events.map(\.text)
        if between > page.events.count {
            lines.append("and \(between - Int64(page.events.count)) more; see history")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension ReplayedAccount {
    /// The most sessions listed.
    private static let sessionsMax = 20

    fileprivate var lines: [String] {
        var lines: [String] = []
        switch status {
        case .unopened: return ["not opened yet: no sign-in was possible"]
        case .open: lines.append("open since \(opened?.text ?? "?")")
        case .disabled:
            lines.append(
                "open since \(opened?.text ?? "?"), disabled at position"
                    + " \(disabledPosition?.description ?? "?")")
        case .merged:
            lines.append(
                "opened \(opened?.text ?? "?"), merged into account"
                    + " \(mergedInto?.description ?? "?")")
        case .erased:
            lines.append(
                "opened \(opened?.text ?? "?"), erased \(erased?.text ?? "?"): no later event"
                    + " touches it")
        }
        lines.append(
            "\(eventCount) events touch it, seq 0 to \(eventCount - 1), each naming the one before"
                + " it; the last at \(last?.text ?? "?")")
        let ways = status == .disabled ? [] : linkedProviders
        let names = ways.map(\.description).joined(separator: ", ")
        lines.append("sign-in was possible with \(names.isEmpty ? "nothing" : names)")
        lines += links.map { link in
            let due = unlinkDues[link.identity].map { ", to be unlinked at \($0)" }
            return "  \(link.text)\(due ?? "")"
        }
        lines.append("sessions not ended by an event: \(sessionCount)")
        lines += sessions.suffix(Self.sessionsMax).map { "  \($0.text)" }
        if sessionCount > Self.sessionsMax {
            lines.append("  and \(sessionCount - Self.sessionsMax) opened earlier")
        }
        lines += merges.map { "absorbed account \($0.absorbed), merge \($0.id)" }
        lines += holds.map { "legal hold \($0) prevents its erasure" }
        return lines
    }
}

extension LogMark {
    /// `#41  2026-11-21T08:30:00.000000Z`.
    var text: String { "#\(position)  \(recordedAt)" }
}

extension LogExtent {
    /// The size of the log and of its signed part.
    var text: String {
        "the log has \(size) events, "
            + (signedSize.map { "\($0) of them under a signed checkpoint" } ?? "none signed yet")
    }
}

extension Account.Link {
    fileprivate var text: String {
        "\(provider)  identity \(identity)  linked #\(position)  \(linkedAt)"
    }
}

extension Session {
    fileprivate var text: String {
        "session \(id)  by identity \(identity)  opened #\(openedPosition)  \(openedAt)"
    }
}
