import LedgerEngine

/// The progress of the projections, in a line for operators.
enum ProjectionProgress {
    private static let shownMax = 5

    /// Returns the stopped projections, then those furthest behind.
    static func line(_ all: [ProjectionStatus]) -> String {
        let behind = all.filter { $0.failure != nil || $0.lag > 0 }
            .sorted { ($0.failure == nil ? 1 : 0, -$0.lag) < ($1.failure == nil ? 1 : 0, -$1.lag) }
        guard !behind.isEmpty else { return "\(all.count) projections up to date" }
        let shown = behind.prefix(shownMax).map { status in
            let name = "\(status.tenant)/\(status.name)"
            let lag = "\(status.lag) events behind"
            return status.failure.map { "\(name) stopped, \(lag): \($0)" } ?? "\(name) \(lag)"
        }
        let more = behind.count - shown.count
        return shown.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
    }
}
