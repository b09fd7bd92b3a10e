/// Whole seconds of a monotonic clock, counted from the first use.
package enum MonotonicSeconds {
    private static let origin = ContinuousClock.now

    /// Reads the clock.
    package static let now: @Sendable () -> Int64 = {
        origin.duration(to: .now).components.seconds
    }
}
