import Ledger

/// The metrics of codes.
enum CodeMetrics {
    /// Writes the codes that this process has refused to send, by the limit.
    static func write(_ refusals: [CodeLimit: Int], to page: inout MetricsText) {
        page.begin(
            "ledger_codes_refused_total", .counter,
            "Codes that this process has not sent because of a limit.")
        for limit in CodeLimit.allCases {
            page.sample(
                "ledger_codes_refused_total", ["limit": limit.rawValue],
                Double(refusals[limit] ?? 0))
        }
    }
}
