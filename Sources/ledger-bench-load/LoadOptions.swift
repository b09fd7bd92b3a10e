import Sockets

/// The options of a run.
struct LoadOptions {
    private static let connectionsMax = 10_000

    let port: UInt16
    let requestsPath: String
    let connections: Int
    /// The number of answers at the beginning that are not measured.
    private(set) var warmUp = 0
    /// The number of times the file's requests are sent.
    private(set) var rounds = 1
    /// The second byte of the connections' own addresses; 0 when all have 127.0.0.1.
    private(set) var network = 0
    /// The text that every answer must contain.
    private(set) var expected: [UInt8] = []
    private(set) var keep: (members: [[UInt8]], path: String)?

    init(_ words: [String]) throws(UsageError) {
        guard words.count >= 3, let port = UInt16(words[0]), let connections = Int(words[2]),
            (1...Self.connectionsMax).contains(connections)
        else { throw UsageError(text: "run requires a port, a file of requests and connections") }
        self.port = port
        requestsPath = words[1]
        self.connections = connections
        var rest = words[3...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw UsageError(text: "\(option) requires a value")
            }
            switch option {
            case "--warm-up": warmUp = try Self.number(value, of: option)
            case "--network": network = try Self.number(value, of: option)
            case "--repeat": rounds = try Self.number(value, of: option)
            case "--expect": expected = Array(value.utf8)
            case "--keep":
                guard let path = rest.popFirst() else {
                    throw UsageError(text: "--keep requires members and a file")
                }
                keep = (members: value.split(separator: ",").map { Array($0.utf8) }, path: path)
            default: throw UsageError(text: "unknown option \(option)")
            }
        }
        guard network < 256 else { throw UsageError(text: "--network must be below 256") }
        guard rounds >= 1, keep == nil || rounds == 1 else {
            throw UsageError(text: "--keep requires a single round")
        }
    }

    /// Returns the own address of a connection.
    func source(of number: Int) -> UInt32 {
        network == 0
            ? ClientSocket.loopback : 0x7F00_0001 + UInt32(network) << 16 + UInt32(number)
    }

    private static func number(_ text: String, of option: String) throws(UsageError) -> Int {
        guard let number = Int(text), (0...1_000_000_000).contains(number) else {
            throw UsageError(text: "\(option) must be a number")
        }
        return number
    }
}
