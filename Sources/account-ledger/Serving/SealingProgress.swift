import LedgerEngine

/// The progress of sealing, in a line for operators.
enum SealingProgress {
    private static let shownMax = 5

    /// Returns the logs that are no longer signed, or else the number that this process seals.
    static func line(_ all: [SealerStatus], isCurrent: Bool) -> String {
        guard isCurrent else { return "no log could be checked for too long" }
        let troubled = all.filter { $0.refusal != nil || $0.isStuck }
        guard troubled.isEmpty else {
            let shown = troubled.prefix(shownMax).map { status in
                let why =
                    status.refusal.map { "\($0)" } ?? "\(status.size - status.signed) events wait"
                return "\(status.tenant) is no longer signed: \(why)"
            }
            let more = troubled.count - shown.count
            return shown.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
        }
        let held = all.filter(\.isHeld)
        let behind = held.reduce(0) { $0 + max(0, $1.size - $1.signed) }
        return "\(held.count) of \(all.count) logs sealed here, \(behind) events behind"
    }
}
