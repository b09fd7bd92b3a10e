import Dispatch
import Glibc
import Synchronization

/// Sockets of ended connections whose clients may still be sending.
///
/// Closing a socket with unread bytes resets the connection, and a client that sends before it reads may
/// then lose the response, RFC 9112 section 9.6. So incoming data is read and dropped for a while.
final class LingeringSockets: Sendable {
    private static let countMax = 64

    private let timeMax: Duration
    private let count = Mutex(0)
    private let queue = DispatchQueue(label: "lingering sockets")

    /// Keeps each socket for at most this time.
    init(timeMax: Duration) {
        self.timeMax = timeMax
    }

    /// Keeps a socket open that its owner is about to close, unless there are too many.
    func keep(_ descriptor: Int32) {
        let hasCapacity = count.withLock { count in
            guard count < Self.countMax else { return false }
            count += 1
            return true
        }
        guard hasCapacity else { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return count.withLock { $0 -= 1 } }
        let socket = LingeringSocket(copy, on: queue) { self.count.withLock { $0 -= 1 } }
        let deadline = DispatchTime.now() + .nanoseconds(Int(timeMax.wholeNanoseconds))
        queue.asyncAfter(deadline: deadline) { socket.end() }
    }
}

/// A socket whose data is dropped until the client has closed its side or has sent too much.
// Protected by the queue, on which everything runs once it is made.
private final class LingeringSocket: @unchecked Sendable {
    private static let bytesMax = 1_048_576

    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private var droppedBytes = 0

    /// Owns a socket from now on, and closes it.
    init(_ descriptor: Int32, on queue: DispatchQueue, whenClosed: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { self.drop() }
        source.setCancelHandler {
            close(descriptor)
            whenClosed()
        }
        source.activate()
    }

    func end() {
        source.cancel()
    }

    private func drop() {
        // For TCP this drops the bytes without a copy.
        let flags = Int32(MSG_DONTWAIT | MSG_TRUNC)
        let count = recv(descriptor, nil, Self.bytesMax, flags)
        droppedBytes += count
        if count <= 0 || droppedBytes > Self.bytesMax { end() }
    }
}
