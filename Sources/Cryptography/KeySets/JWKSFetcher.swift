/// Fetches key sets over HTTP.
///
/// Each fetch ends within 5 seconds and 256 KiB. Redirects are refused, only status 200 counts, and
/// nothing is kept between fetches: no cookies, no cache, no credentials, no connection. Plain `http`
/// is refused unless the host is this machine, because an attacker who can change a key set can sign in
/// to any account. Requests to other machines use the proxy of `https_proxy`, if it is set.
package struct JWKSFetcher: Sendable {
    /// Longest fetch, in seconds, from the request to the last byte.
    package static let secondsMax = 5

    /// Most concurrent transfers in the process; at most one per URL.
    ///
    /// Further ones wait, which counts toward their time limit.
    static let transfersMax = 64

    static let sharedThreads = BlockingThreads(countMax: transfersMax)

    private let timeLimit: Duration
    private let trustedFile: String?
    private let threads: BlockingThreads

    /// Makes a fetcher.
    package init() {
        self.init(timeLimit: .seconds(JWKSFetcher.secondsMax))
    }

    /// Makes a fetcher with another time limit, trusted certificates and threads.
    init(
        timeLimit: Duration, trustedFile: String? = nil,
        threads: BlockingThreads = JWKSFetcher.sharedThreads
    ) {
        self.timeLimit = timeLimit
        self.trustedFile = trustedFile
        self.threads = threads
    }

    /// Fetches one document.
    ///
    /// - Throws: `JWKSFetchFault`.
    @concurrent package func fetch(_ url: String) async throws -> FetchedKeySet {
        let deadline = ContinuousClock.now.advanced(by: timeLimit)
        let outcome = JWKSOutcome()
        threads.run(for: url) { [trustedFile] in
            outcome.end(with: JWKSFetcher.transferred(url, deadline, trustedFile))
        }
        // libcurl applies the limit too, but may then still wait for an unresponsive name server.
        let clock = Task {
            do {
                try await Task.sleep(until: deadline, clock: .continuous)
                outcome.end(with: .failure(.timedOut))
            } catch {
                // The transfer ended in time.
            }
        }
        defer { clock.cancel() }
        return try await outcome.value().get()
    }

    private static func transferred(
        _ url: String, _ deadline: ContinuousClock.Instant, _ trustedFile: String?
    ) -> JWKSOutcome.Value {
        Result { () throws(JWKSFetchFault) in
            let limit = ContinuousClock.now.duration(to: deadline)
            guard limit > .zero else {
                throw .timedOut
            }
            return try JWKSTransfer(url: url, limit: limit, trustedFile: trustedFile).run()
        }
    }
}

/// The reason why a key set was not fetched.
package enum JWKSFetchFault: String, Error, Sendable {
    /// The address is not a URL, or is plain `http` to another machine.
    case unacceptableAddress
    /// The provider can't be reached, has no valid certificate, or closed the connection early.
    case unreachable
    /// The provider took too long.
    case timedOut
    /// The status was not 200; redirects are refused.
    case refusedStatus
    /// The response is too large.
    case tooLarge
}
