import Glibc

/// The events to wait for on a socket.
struct SocketEvents: OptionSet {
    let rawValue: Int16

    static let read = Self(rawValue: Int16(POLLIN))
    static let write = Self(rawValue: Int16(POLLOUT))

    /// Waits until the socket is ready or broken; false when the deadline has passed.
    ///
    /// After the deadline there is no wait, even if the socket is ready: a server that sends a
    /// little at a time cannot hold the caller. A signal does not end the wait.
    static func wait(
        for events: Self, on socket: Int32, until deadline: ContinuousClock.Instant
    ) -> Bool {
        while true {
            let left = milliseconds(until: deadline)
            guard left > 0 else { return false }
            if let isReady = poll(socket, for: events, milliseconds: left), isReady { return true }
        }
    }

    /// Checks whether the socket is readable or broken at this moment.
    static func isReadable(_ socket: Int32) -> Bool {
        poll(socket, for: .read, milliseconds: 0) ?? false
    }

    /// Polls once; nil if a signal interrupted the poll.
    private static func poll(_ socket: Int32, for events: Self, milliseconds: Int32) -> Bool? {
        // poll(2) would ignore a negative descriptor and sleep; such a connection is broken.
        guard socket >= 0 else { return true }
        var descriptor = pollfd(fd: socket, events: events.rawValue, revents: 0)
        let ready = unsafe Glibc.poll(&descriptor, 1, milliseconds)
        if ready < 0 { return errno == EINTR ? nil : true }
        return ready > 0
    }

    /// Rounds up, so that the last wait does not spin; 0 once the deadline has passed.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        guard seconds < 86_400 else { return 86_400_000 }
        return Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
