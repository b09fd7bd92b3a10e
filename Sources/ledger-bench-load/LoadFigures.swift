/// The figures of a run.
struct LoadFigures {
    /// The number of answers, including the warm-up.
    let answers: Int
    /// The duration of the measured part.
    let nanoseconds: UInt64
    /// The measured answers' latencies in nanoseconds.
    let latencies: [UInt64]
    /// Processor time of the load generator, in microseconds.
    let loadMicroseconds: Int

    /// The figures as one line; latencies are exact, in microseconds.
    var json: String {
        let sorted = latencies.sorted()
        let seconds = Double(nanoseconds) / 1e9
        let members: [(String, Double)] = [
            ("answers", Double(answers)), ("measured", Double(sorted.count)),
            ("seconds", seconds), ("per_second", seconds > 0 ? Double(sorted.count) / seconds : 0),
            ("p50_us", Self.quantile(0.5, of: sorted)), ("p99_us", Self.quantile(0.99, of: sorted)),
            ("max_us", Self.quantile(1, of: sorted)),
            ("loader_cpu_us", Double(loadMicroseconds) / Double(max(1, answers))),
        ]
        let text = members.map { "\"\($0.0)\":\(($0.1 * 1000).rounded() / 1000)" }
        return "{\(text.joined(separator: ","))}"
    }

    /// Returns the latency that a share of the answers did not exceed, in microseconds.
    static func quantile(_ share: Double, of sorted: [UInt64]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let rank = Int((share * Double(sorted.count)).rounded(.up))
        return Double(sorted[max(0, min(sorted.count, rank) - 1)]) / 1000
    }
}
