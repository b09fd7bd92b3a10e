/// A page of metrics in the Prometheus text format, version 0.0.4.
struct MetricsText {
    enum Kind: String {
        case counter
        case gauge
        case histogram
        case summary
    }

    private(set) var text = ""

    /// Begins a metric; its samples must follow.
    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds the sample of a metric without labels.
    mutating func sample(_ name: String, _ value: Double) {
        sample(name, [:], value)
    }

    /// Adds a sample of the metric.
    mutating func sample(
        _ name: String, _ labels: KeyValuePairs<String, String>, _ value: Double
    ) {
        text += "\(name)\(Self.joined(labels, and: nil)) \(Self.number(value))\n"
    }

    /// Adds a metric that has one sample and no labels.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        begin(name, kind, help)
        sample(name, value)
    }

    /// Adds the samples of a histogram: cumulative buckets, sum and count.
    mutating func samples(
        _ name: String, _ labels: KeyValuePairs<String, String> = [:], of histogram: Histogram
    ) {
        samples(
            name, labels, bounds: histogram.bounds, counts: histogram.counts, sum: histogram.sum)
    }

    /// Adds the samples of a histogram whose last count is above all bounds.
    mutating func samples(
        _ name: String, _ labels: KeyValuePairs<String, String> = [:], bounds: [Double],
        counts: [UInt64], sum: Double
    ) {
        var total: UInt64 = 0
        for (bound, count) in zip(bounds + [.infinity], counts) {
            total &+= count
            let bucket = Self.joined(labels, and: ("le", Self.number(bound)))
            text += "\(name)_bucket\(bucket) \(total)\n"
        }
        text += "\(name)_sum\(Self.joined(labels, and: nil)) \(Self.number(sum))\n"
        text += "\(name)_count\(Self.joined(labels, and: nil)) \(total)\n"
    }

    private static func joined(
        _ labels: KeyValuePairs<String, String>, and last: (String, String)?
    ) -> String {
        let all = labels.map { ($0.key, $0.value) } + (last.map { [$0] } ?? [])
        guard !all.isEmpty else { return "" }
        return "{" + all.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf" }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return value.description
    }
}
