import Glibc

/// A monotonic time for deadlines, exact to some milliseconds and cheap enough for every request.
struct MonotonicTime: Sendable {
    /// Later than every other time.
    static let never = MonotonicTime(nanoseconds: .max)

    static var now: MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    let nanoseconds: Int64

    static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds + duration.wholeNanoseconds)
    }
}

extension Duration {
    /// The duration in nanoseconds, 0 to about a hundred years.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let secondsMax: Int64 = 3_155_760_000
        guard seconds < secondsMax else { return secondsMax * 1_000_000_000 }
        return max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
