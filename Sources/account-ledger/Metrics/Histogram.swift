/// A histogram with fixed bounds.
struct Histogram: Sendable {
    /// Bounds in seconds for durations from a fraction of a millisecond to many seconds.
    static let secondsBounds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
        2.5, 5, 10,
    ]

    let bounds: [Double]
    /// The number of observations between successive bounds; the last count is above all bounds.
    private(set) var counts: [UInt64]
    private(set) var sum = 0.0

    init(bounds: [Double] = Self.secondsBounds) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Records an observation.
    mutating func observe(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[index] &+= 1
        sum += value
    }
}
