import Glibc

/// The limits of a server for everything that clients send.
package struct HTTPServerLimits: Sendable {
    /// The longest body; a longer one is answered as `HTTPRejection.bodyTooLarge`.
    package var bodyBytesMax = 65_536
    /// Bodies up to this size are always accepted; they are part of the cost of a connection.
    package var smallBodyBytesMax = 4_096
    /// The memory for all larger bodies together; requests beyond it are answered as overloaded.
    package var largeBodiesBytesMax = 33_554_432
    /// The longest header section, request line included.
    package var headerBytesMax = 16_384
    /// The most header fields.
    package var headerCountMax = 100
    /// The most open connections; more wait in the system's queue.
    ///
    /// At the limit, a new connection replaces the one that has waited longest for its client's next
    /// request.
    package var connectionsMax = 1024
    /// The most requests with the handler, or with a response on its way; more are answered as overloaded.
    ///
    /// At the limit, the client is cut that has left a complete response unread for longest, at least a second.
    package var requestsInFlightMax = 512
    /// The delay of a response that the server is overloaded.
    ///
    /// Without it, clients that retry immediately would cost more than served requests; the delay limits
    /// how often each is refused.
    package var refusalDelay: Duration = .zero
    /// The paths whose requests always go to the handler, such as health checks; compared byte by byte.
    package var alwaysAdmittedPaths: [String] = []
    /// Time limit of a new connection for its first complete request line.
    package var firstRequestLineTimeMax: Duration = .seconds(5)
    /// Time limit of a silent connection while the server waits for it, in whole seconds.
    package var idleTimeMax: Duration = .seconds(30)
    /// Time limit of a request from its request line to its last byte.
    package var requestReceiveTimeMax: Duration = .seconds(30)
    /// Time limit of a client for receiving a response.
    package var responseSendTimeMax: Duration = .seconds(60)
    /// Time during which data of a refused client is read and dropped after the response.
    package var lingerTimeMax: Duration = .seconds(2)
    /// The number of threads that read and write sockets.
    package var threads = HTTPServerLimits.processorCount

    /// Makes the limits of a server on the internet.
    package init() {}

    /// The number of processors.
    package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The idle time for libmicrohttpd, where 0 would mean no limit.
    var idleSecondsMax: UInt32 {
        UInt32(clamping: max(1, (idleTimeMax.wholeNanoseconds + 999_999_999) / 1_000_000_000))
    }

    /// libmicrohttpd's memory for a header field or a query pair, besides its text.
    static let fieldMemoryBytes = 64

    /// The memory for a header section and its fields; `RequestScanner` enforces it, so that libmicrohttpd
    /// never runs out of memory.
    var headMemoryBytes: Int { headerBytesMax + 1_024 }

    /// The memory of a connection: the header sections of the request and the response.
    ///
    /// All of it is wiped after each request, so that it is resident once a connection has served one. With sections
    /// of 8 KiB it is 10 KiB, a size that the allocator does not round up.
    var connectionMemoryBytes: Int { headMemoryBytes + 1_024 }

    /// Whether requests may wait besides those with the handler.
    var usesReserve: Bool { !alwaysAdmittedPaths.isEmpty || refusalDelay > .zero }
}
