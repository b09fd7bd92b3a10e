import Glibc
import Sockets

/// A run in which every connection sends its next request as soon as it has its answer.
///
/// The measurement begins after the warm-up and ends when the first connection has nothing more to send,
/// so that all connections are busy throughout. Every answer is checked.
struct LoadRun {
    private struct Connection {
        let socket: ClientSocket
        /// The index of the current request.
        var request = 0
        var sentAt: UInt64 = 0
        /// The received part of an incomplete answer.
        var part: [UInt8] = []
    }

    private static let bufferBytes = 65_536
    /// The time without an answer after which the run fails.
    private static let silenceMilliseconds: Int32 = 30_000

    private let requests: PreparedRequests
    private let options: LoadOptions
    private let total: Int
    private var sent = 0
    private var answered = 0
    private var began: UInt64 = 0
    private var ended: UInt64 = 0
    /// Processor time of this program, in microseconds.
    private var loadMicroseconds = 0
    private var connections: [Connection] = []
    private var buffer = [UInt8](repeating: 0, count: LoadRun.bufferBytes)
    /// The latencies of the measured answers, in nanoseconds.
    private var latencies: [UInt64] = []
    /// The members to keep, in the order of the requests.
    private(set) var kept: [[UInt8]]

    init(_ requests: PreparedRequests, _ options: LoadOptions) {
        self.requests = requests
        self.options = options
        total = requests.count * options.rounds
        kept = options.keep == nil ? [] : Array(repeating: [], count: total)
        latencies.reserveCapacity(total)
    }

    /// Sends every request and waits for every answer.
    ///
    /// - Throws: `LoadFailure` at the first wrong answer, or `SocketError`.
    mutating func toItsEnd() throws {
        guard options.warmUp == 0 || total >= options.warmUp + 2 * options.connections else {
            throw LoadFailure(description: "\(total) requests are too few for a measurement")
        }
        let poll = try SocketPoll()
        let processorTime = clock()
        for number in 0..<min(options.connections, total) {
            let socket = try ClientSocket(port: options.port, from: options.source(of: number))
            connections.append(Connection(socket: socket))
            try poll.add(connections[number].socket, as: number)
        }
        if options.warmUp == 0 { began = MonotonicTime.nanoseconds }
        for number in connections.indices { try sendNext(on: number) }
        var readable: [Int] = []
        while answered < total {
            try poll.wait(into: &readable, milliseconds: Self.silenceMilliseconds)
            guard !readable.isEmpty else {
                throw LoadFailure(description: "no answer within 30 s, after \(answered)")
            }
            for number in readable { try read(on: number) }
        }
        loadMicroseconds = (clock() - processorTime) * 1_000_000 / Int(CLOCKS_PER_SEC)
    }

    func figures() -> LoadFigures {
        LoadFigures(
            answers: answered, nanoseconds: ended - began, latencies: latencies,
            loadMicroseconds: loadMicroseconds)
    }

    private mutating func sendNext(on number: Int) throws(SocketError) {
        guard sent < total else {
            if ended == 0 { ended = MonotonicTime.nanoseconds }
            return
        }
        let request = sent % requests.count
        sent += 1
        connections[number].request = request
        connections[number].sentAt = MonotonicTime.nanoseconds
        try connections[number].socket.send(requests.bytes, requests[request])
    }

    private mutating func read(on number: Int) throws {
        guard let count = try connections[number].socket.receive(into: &buffer) else { return }
        guard count > 0 else {
            throw LoadFailure(description: "the server closed a connection after \(answered)")
        }
        if connections[number].part.isEmpty, let answer = try Answer(buffer, count: count) {
            try take(answer, in: buffer, count: count, on: number)
            return
        }
        connections[number].part += buffer[..<count]
        let part = connections[number].part
        if let answer = try Answer(part, count: part.count) {
            connections[number].part.removeAll(keepingCapacity: true)
            try take(answer, in: part, count: part.count, on: number)
        }
    }

    private mutating func take(
        _ answer: Answer, in bytes: [UInt8], count: Int, on number: Int
    ) throws {
        let now = MonotonicTime.nanoseconds
        try check(answer, in: bytes, count: count)
        answered += 1
        if ended == 0, answered > options.warmUp {
            latencies.append(now - connections[number].sentAt)
        } else if answered == options.warmUp {
            began = now
        }
        if let keep = options.keep {
            guard let line = KeptMembers.line(keep.members, in: bytes, answer.body) else {
                throw LoadFailure(description: "an answer lacks a member for --keep")
            }
            kept[connections[number].request] = line
        }
        try sendNext(on: number)
    }

    private func check(_ answer: Answer, in bytes: [UInt8], count: Int) throws(LoadFailure) {
        guard answer.status == 200 else {
            // An error's body contains a code and a sentence, and no data of the client.
            let text = String(decoding: bytes[answer.body].prefix(300), as: UTF8.self)
            throw LoadFailure(
                description: "answer \(answered + 1) has status \(answer.status): \(text)")
        }
        guard answer.body.upperBound == count else {
            throw LoadFailure(description: "unexpected bytes after answer \(answered + 1)")
        }
        guard bytes.firstIndex(of: options.expected, in: answer.body) != nil else {
            throw LoadFailure(description: "answer \(answered + 1) lacks the expected text")
        }
    }
}
