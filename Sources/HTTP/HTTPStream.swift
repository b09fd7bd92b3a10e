import CMicroHTTPD
import Synchronization

/// A response body that is produced while it is sent.
///
/// The connection's thread sends bytes as fast as the client receives them; the producing task waits while
/// the buffer is full. A disconnected client is noticed only when something is sent to it: an idle stream
/// should write something now and then.
// Protected by the mutex of `state`; the handle never changes and is used only while `state` marks the
// connection as suspended.
@safe package final class HTTPStream: @unchecked Sendable {
    /// A writer waits once this many bytes are buffered.
    private static let waitingBytesMax = 65_536

    private struct State {
        var waiting: [UInt8] = []
        var hasBegun = false
        var isEnded = false
        /// Whether the body is incomplete at its end.
        var isAborted = false
        var isSuspended = false
        /// Whether the daemon was asked to resume the connection and has not done so yet.
        var isWoken = false
        var task: Task<Void, Never>?
        var writer: CheckedContinuation<Void, Never>?

        /// Returns true, once, when the daemon must be asked to resume the connection.
        mutating func mustWake() -> Bool {
            guard isSuspended, !isWoken else { return false }
            isWoken = true
            return true
        }
    }

    private enum Next {
        case sent(count: Int, writer: CheckedContinuation<Void, Never>?)
        case begin
        case wait
        case end(isAborted: Bool)
    }

    private let handle: OpaquePointer
    private let connection: ClientConnection
    private let sendTimeMax: Duration
    private let mayEndEarly: Bool
    private let make: @Sendable (HTTPStream) async -> Void
    private let state = Mutex(State())

    /// Creates a stream that begins when the connection's thread reads its first bytes, which never happens
    /// for HEAD.
    init(
        handle: OpaquePointer, connection: ClientConnection, sendTimeMax: Duration,
        mayEndEarly: Bool, make: @escaping @Sendable (HTTPStream) async -> Void
    ) {
        unsafe self.handle = handle
        self.connection = connection
        self.sendTimeMax = sendTimeMax
        self.mayEndEarly = mayEndEarly
        self.make = make
    }

    /// Whether the connection waits for bytes or for its resumption by the daemon.
    var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Adds bytes; waits while the buffer is full.
    ///
    /// - Returns: False when the client has disconnected or the server stops.
    package func write(_ bytes: [UInt8]) async -> Bool {
        let (isEnded, mustWake) = state.withLock { state -> (Bool, Bool) in
            guard !state.isEnded else { return (true, false) }
            state.waiting += bytes
            return (false, state.mustWake())
        }
        if isEnded { return false }
        // Outside the lock: the daemon's thread may hold its own lock and wait for this one.
        if mustWake { unsafe MHD_resume_connection(handle) }
        await withCheckedContinuation { continuation in
            let hasCapacity = state.withLock { state in
                if state.isEnded || state.waiting.count < Self.waitingBytesMax { return true }
                state.writer = continuation
                return false
            }
            if hasCapacity { continuation.resume() }
        }
        return !state.withLock(\.isEnded)
    }

    /// Ends the body after the written bytes, and cancels the producing task.
    func end() {
        end { _ in }
    }

    /// Ends the body because the server stops, without the buffered bytes; aborts one that may not end early.
    ///
    /// With a deadline, a client that is too slow for the rest is cut.
    func stop(by deadline: MonotonicTime? = nil) {
        end { state in
            state.waiting = []
            if !mayEndEarly { state.isAborted = true }
            if let deadline { connection.expectProgress(until: deadline) }
        }
    }

    private func end(_ change: (inout State) -> Void) {
        let (task, writer, mustWake) = state.withLock { state in
            state.isEnded = true
            change(&state)
            return (state.task.take(), state.writer.take(), state.mustWake())
        }
        task?.cancel()
        writer?.resume()
        if mustWake { unsafe MHD_resume_connection(handle) }
    }

    /// Ends the body before it is complete: the client gets the written bytes, and then the connection is closed without
    /// the end of the body, so that no client takes it for a whole one.
    package func abort() {
        end { $0.isAborted = true }
    }

    /// Moves bytes to the daemon's buffer on the connection's thread; suspends the connection without
    /// bytes.
    ///
    /// - Returns: the number of bytes, 0 for none yet, `cmhd_end_of_stream`, or `cmhd_end_with_error`.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            switch unsafe next(into: buffer) {
            case .sent(let count, let writer):
                writer?.resume()
                return count
            case .begin: begin()
            case .wait: return 0
            case .end(let isAborted):
                return isAborted ? cmhd_end_with_error : cmhd_end_of_stream
            }
        }
    }

    private func next(into buffer: UnsafeMutableRawBufferPointer) -> Next {
        state.withLock { state in
            state.isSuspended = false
            state.isWoken = false
            if !state.waiting.isEmpty {
                let count = min(state.waiting.count, buffer.count)
                unsafe buffer.copyBytes(from: state.waiting[..<count])
                state.waiting.removeFirst(count)
                connection.expectProgress(until: .now + sendTimeMax)
                return .sent(count: count, writer: state.writer.take())
            }
            if state.isEnded { return .end(isAborted: state.isAborted) }
            if !state.hasBegun {
                state.hasBegun = true
                return .begin
            }
            connection.expectProgress(until: .never)
            state.isSuspended = true
            unsafe MHD_suspend_connection(handle)
            return .wait
        }
    }

    private func begin() {
        let task = Task { [make] in
            await make(self)
            end()
        }
        state.withLock { state in
            if !state.isEnded { state.task = task }
        }
    }
}
