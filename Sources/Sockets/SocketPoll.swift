internal import CEpoll
internal import Glibc

/// Reports which of many connections are readable (epoll(7), level-triggered).
package final class SocketPoll {
    private static let eventsMax = 256

    private let descriptor: Int32

    /// Creates an empty poll.
    ///
    /// - Throws: `SocketError`.
    package init() throws(SocketError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SocketError("epoll_create1") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Adds a connection, which ``wait(into:milliseconds:)`` reports by this number.
    ///
    /// - Throws: `SocketError`.
    package func add(_ socket: ClientSocket, as number: Int) throws(SocketError) {
        var event = unsafe epoll_event()
        unsafe event.events = EPOLLIN.rawValue
        unsafe event.data.u64 = UInt64(number)
        guard unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, socket.descriptor, &event) == 0 else {
            throw SocketError("epoll_ctl")
        }
    }

    /// Waits for readable connections and lists them; none after the timeout.
    ///
    /// - Throws: `SocketError`.
    package func wait(into numbers: inout [Int], milliseconds: Int32) throws(SocketError) {
        numbers.removeAll(keepingCapacity: true)
        let count = unsafe withUnsafeTemporaryAllocation(
            of: epoll_event.self, capacity: Self.eventsMax
        ) { events in
            let count = unsafe epoll_wait(
                descriptor, events.baseAddress, Int32(Self.eventsMax), milliseconds)
            for index in 0..<max(0, Int(count)) {
                numbers.append(Int(unsafe events[index].data.u64))
            }
            return count
        }
        guard count >= 0 || errno == EINTR else { throw SocketError("epoll_wait") }
    }
}
