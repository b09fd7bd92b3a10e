internal import Cryptography
internal import HTTPClient

/// Fetches key sets over HTTP.
///
/// Each fetch ends within 5 seconds and 256 KiB. Only status 200 counts: a redirect is refused, because a
/// forged key set gives access to any account.
package struct JWKSFetcher: Sendable {
    /// Longest fetch, in seconds, from the request to the last byte.
    package static let secondsMax = 5

    private let timeLimit: Duration
    private let trustedFile: String?

    /// Creates a fetcher.
    package init() {
        self.init(timeLimit: .seconds(JWKSFetcher.secondsMax))
    }

    /// Creates a fetcher with another limit, with the certificates of a PEM file.
    init(timeLimit: Duration, trustedFile: String? = nil) {
        self.timeLimit = timeLimit
        self.trustedFile = trustedFile
    }

    /// Fetches one document.
    ///
    /// - Throws: `JWKSFetchFault`.
    @concurrent package func fetch(_ url: String) async throws -> FetchedKeySet {
        let request = ClientRequest(
            url: url, fields: [ClientRequest.Field(name: "Accept", value: "application/json")],
            answerBody: .kept(bytesMax: KeySet.documentBytesMax))
        let answer: ClientAnswer
        do throws(TransferFault) {
            answer = try await HTTPClient.shared.send(
                request, within: timeLimit, trustedFile: trustedFile)
        } catch {
            throw JWKSFetchFault(error)
        }
        // An answer with another status ends with its head, so nothing of it was interrupted.
        if let fault = answer.interruption { throw JWKSFetchFault(fault) }
        guard answer.status == 200 else { throw JWKSFetchFault.refusedStatus }
        return FetchedKeySet(
            body: answer.body, maxAgeSeconds: CacheControl.maxAgeSeconds(answer.cacheControl))
    }
}

/// The reason why a key set was not fetched.
package enum JWKSFetchFault: String, Error, Sendable {
    /// The address is malformed, or plain `http` to another machine.
    case unacceptableAddress
    /// The provider can't be reached, its certificate is not trusted, or it broke the connection off.
    case unreachable
    /// The provider took too long.
    case timedOut
    /// The status was not 200; redirects are refused.
    case refusedStatus
    /// The answer is too large.
    case tooLarge

    init(_ fault: TransferFault) {
        self =
            switch fault {
            case .unacceptableAddress: .unacceptableAddress
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .unreachable, .untrusted, .broken, .stopped: .unreachable
            }
    }
}
