import LedgerPostgres

/// How sealing stands, in a line for operators.
enum SealingProgress {
    private static let shownMax = 5

    /// Names the logs that are not signed further; then how many this process seals.
    static func line(_ all: [SealerStatus]) -> String {
        let refused = all.filter { $0.refusal != nil }
        guard refused.isEmpty else {
            let shown = refused.prefix(shownMax).map { status in
                "\(status.tenant) is not signed any more: \(status.refusal.map { "\($0)" } ?? "")"
            }
            let more = refused.count - shown.count
            return shown.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
        }
        let held = all.filter(\.isHeld)
        let behind = held.reduce(0) { $0 + max(0, $1.size - $1.signed) }
        return "\(held.count) of \(all.count) logs sealed here, \(behind) events behind"
    }
}
