import Glibc

/// The most that a server takes, of everything a client can send much of.
package struct HTTPServerLimits: Sendable {
    /// The longest body; a longer one is answered as `HTTPRejection.bodyTooLarge`.
    package var bodyBytesMax = 65_536
    /// A body of no more than this always finds room, whatever others send; it is part of what a
    /// connection may cost.
    package var smallBodyBytesMax = 4_096
    /// What all larger bodies together may take; a request whose body finds no room is answered as
    /// overloaded.
    package var largeBodiesBytesMax = 33_554_432
    /// The longest header section, request line included.
    package var headerBytesMax = 16_384
    /// The most header fields.
    package var headerCountMax = 100
    /// The most open connections; more wait in the system's queue.
    ///
    /// When all are taken and another comes, the one that has waited longest for its client's next request
    /// is cut.
    package var connectionsMax = 1024
    /// The most requests given to the handler at the same time; more are answered as overloaded.
    package var requestsInFlightMax = 512
    /// How long a request waits for its answer that the server is overloaded.
    ///
    /// Clients that come back at once would otherwise cost more than those that are served: with this,
    /// each of them is refused at most so often.
    package var refusalDelay: Duration = .zero
    /// The paths whose requests are given to the handler even then, such as those that ask for the
    /// server's health; compared byte by byte.
    package var alwaysAdmittedPaths: [String] = []
    /// How long a new connection may take to its first whole request line.
    package var firstRequestLineTimeMax: Duration = .seconds(5)
    /// How long a connection may stay silent while the server waits for it; counts in whole
    /// seconds.
    package var idleTimeMax: Duration = .seconds(30)
    /// How long a request may take from its request line to its last byte, however it drips.
    package var requestReceiveTimeMax: Duration = .seconds(30)
    /// How long a client may take to accept an answer.
    package var responseSendTimeMax: Duration = .seconds(60)
    /// How long what a client still sends is read and dropped after its connection was refused and closed.
    package var lingerTimeMax: Duration = .seconds(2)
    /// The threads that read and write sockets.
    package var threads = HTTPServerLimits.processorCount

    /// The limits of a server that faces the internet.
    package init() {}

    /// The processors this machine runs on.
    package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The idle time as libmicrohttpd takes it, where 0 would mean no limit.
    var idleSecondsMax: UInt32 {
        UInt32(clamping: max(1, (idleTimeMax.wholeNanoseconds + 999_999_999) / 1_000_000_000))
    }

    /// What libmicrohttpd keeps of a header field or of a pair of the query, beside its text.
    static let fieldMemoryBytes = 64

    /// What a header section may take, with what is kept of its fields; `RequestScanner` lets no more
    /// through, so that libmicrohttpd never runs out.
    var headMemoryBytes: Int { headerBytesMax + 4_096 }

    /// What one connection may use: the header section and the header of the answer.
    ///
    /// All of it is wiped after each request and so is in memory for each connection that has served one.
    var connectionMemoryBytes: Int { headMemoryBytes + 1_024 }

    /// Whether requests may wait beside those that are given to the handler.
    var usesReserve: Bool { !alwaysAdmittedPaths.isEmpty || refusalDelay > .zero }
}
