internal import Foundation
internal import FoundationNetworking

/// Fetches key sets over HTTP.
///
/// Each fetch ends within 5 seconds and 256 KiB. Redirects are refused, only status 200 counts, and
/// nothing is kept between fetches: no cookies, no cache, no credentials. Plain `http` is refused
/// unless the host is this machine, because whoever can change a key set can sign in as anybody.
///
/// - Warning: Foundation of Swift 6.3.1 on Linux ends the process when an HTTP/1.1 connection closes
///   after a whole header line and before the end of the headers, over TLS as well
///   (swift-corelibs-foundation issue 5285, mended after 6.3.1). Nothing in front of `URLSession` can
///   prevent it; `KeySetCache` takes any other way to fetch.
package struct JWKSFetcher: Sendable {
    /// Longest fetch, in seconds, from the first packet to the last byte.
    package static let secondsMax = 5

    private let timeLimit: Duration

    /// Makes a fetcher.
    package init() {
        self.init(timeLimit: .seconds(JWKSFetcher.secondsMax))
    }

    init(timeLimit: Duration) {
        self.timeLimit = timeLimit
    }

    /// Fetches one document.
    ///
    /// - Throws: `JWKSFetchFault`.
    @concurrent package func fetch(_ url: String) async throws -> FetchedKeySet {
        guard let address = URL(string: url), JWKSFetcher.isAcceptable(address) else {
            throw JWKSFetchFault.unacceptableAddress
        }
        let transfer = JWKSTransfer(bodyBytesMax: KeySet.documentBytesMax)
        let deadline = Task { [timeLimit] in
            do {
                try await Task.sleep(for: timeLimit)
                transfer.end(with: .failure(.timedOut))
            } catch {
                // The transfer ended in time.
            }
        }
        defer { deadline.cancel() }
        return try await transfer.result(of: JWKSFetcher.request(for: address)).get()
    }

    private static func isAcceptable(_ address: URL) -> Bool {
        switch address.scheme?.lowercased() {
        case "https":
            address.host?.isEmpty == false
        case "http":
            ["127.0.0.1", "::1", "[::1]", "localhost"].contains(address.host?.lowercased())
        default:
            false
        }
    }

    private static func request(for address: URL) -> URLRequest {
        var request = URLRequest(
            url: address, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: TimeInterval(secondsMax))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        return request
    }
}

/// Why a key set was not fetched.
package enum JWKSFetchFault: String, Error, Sendable {
    /// The address is no URL, or plain `http` to another machine.
    case unacceptableAddress
    /// The provider can't be reached or broke off.
    case unreachable
    /// The provider took too long.
    case timedOut
    /// The status was not 200; redirects are refused.
    case refusedStatus
    /// The document is too large.
    case tooLarge
}
