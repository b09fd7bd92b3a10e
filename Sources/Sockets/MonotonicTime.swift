internal import Glibc

/// A monotonic clock.
package enum MonotonicTime {
    /// Nanoseconds since an arbitrary origin; cheap enough to be read for every response.
    package static var nanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
