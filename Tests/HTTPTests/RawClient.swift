import BlockingCalls
import Sockets

/// A client that sends arbitrary bytes, and reads answers one at a time.
///
/// It fails after two minutes, because a machine that runs all tests concurrently is slow.
final class RawClient: Sendable {
    enum Failure: Error {
        case timedOut(waitingFor: String)
        case closed(waitingFor: String)
    }

    private static let waitSecondsMax = 120
    private let executor = BlockingExecutor(label: "raw-client")
    private let socket: RawSocket

    /// Connects over loopback.
    init(port: UInt16) async throws {
        socket = try await executor.run {
            try RawSocket(port: port, waitSecondsMax: Self.waitSecondsMax)
        }
    }

    /// Sends a text, in which a line break is a bare LF, as lines that end with CR LF.
    func send(_ lines: String) async throws {
        try await sendBytes(Array(lines.replacing("\n", with: "\r\n").utf8))
    }

    func sendBytes(_ bytes: [UInt8]) async throws {
        try await executor.run { [socket] in try socket.send(bytes) }
    }

    /// Reads one answer; that to a HEAD request has no body, whatever its length.
    func receive(_ what: String = "an answer", toHead: Bool = false) async throws -> RawResponse {
        try await executor.run { [socket] in try socket.readResponse(what, toHead: toHead) }
    }

    /// Reads up to a text, and returns the bytes before it.
    func receive(until mark: String) async throws -> String {
        try await executor.run { [socket] in try socket.read(until: mark, "'\(mark)'") }
    }

    /// Waits until the server closes the connection, and returns the bytes sent before.
    func receiveUntilClosed(_ what: String = "the end of the connection") async throws -> [UInt8] {
        try await executor.run { [socket] in try socket.readToEnd(what) }
    }

    /// Closes the connection; with an abort the server gets a reset.
    func close(abort: Bool = false) async throws {
        await executor.run { [socket] in socket.close(abort: abort) }
    }
}

/// An answer as received from the socket.
struct RawResponse: Sendable {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
