internal import Glibc

/// Time that never goes back.
package enum MonotonicTime {
    /// Nanoseconds since some moment before; cheap enough to be read for every answer.
    package static var nanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
