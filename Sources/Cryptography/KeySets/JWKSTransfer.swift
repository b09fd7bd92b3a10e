internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// One transfer of a key set; receives what `URLSession` reports about it.
///
/// It has a session of its own, which is torn down with it: key sets are fetched about once an hour.
// Protected by `state`, a mutex; the rest is immutable.
final class JWKSTransfer: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Outcome = Result<FetchedKeySet, JWKSFetchFault>

    private struct State {
        var body: [UInt8] = []
        var isAccepted = false
        var maxAgeSeconds: Int64?
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
        var session: URLSession?
    }

    private let bodyBytesMax: Int
    private let state = Mutex(State())

    init(bodyBytesMax: Int) {
        self.bodyBytesMax = bodyBytesMax
    }

    /// Sends the request and waits for the outcome; to be called once.
    func result(of request: URLRequest) async -> Outcome {
        await withCheckedContinuation { continuation in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            let session = URLSession(
                configuration: configuration, delegate: self, delegateQueue: nil)
            let task = session.dataTask(with: request)
            let early = state.withLock { state -> Outcome? in
                state.session = session
                state.waiter = state.outcome == nil ? continuation : nil
                return state.outcome
            }
            if let early {
                session.invalidateAndCancel()
                continuation.resume(returning: early)
            } else {
                task.resume()
            }
        }
    }

    /// Ends the transfer with an outcome; the first outcome counts.
    func end(with outcome: Outcome) {
        let (waiter, session) = state.withLock { state in
            guard state.outcome == nil else {
                return (nil as CheckedContinuation<Outcome, Never>?, nil as URLSession?)
            }
            state.outcome = outcome
            defer {
                state.waiter = nil
                state.session = nil
            }
            return (state.waiter, state.session)
        }
        session?.invalidateAndCancel()
        waiter?.resume(returning: outcome)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
        end(with: .failure(.refusedStatus))
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
            completionHandler(.cancel)
            end(with: .failure(.refusedStatus))
            return
        }
        let maxAge = CacheControl.maxAgeSeconds(
            response.value(forHTTPHeaderField: "Cache-Control"))
        state.withLock { state in
            state.isAccepted = true
            state.maxAgeSeconds = maxAge
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            guard state.body.count + data.count <= bodyBytesMax else {
                return true
            }
            state.body += data
            return false
        }
        if isTooLarge {
            end(with: .failure(.tooLarge))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        guard error == nil else {
            end(with: .failure(.unreachable))
            return
        }
        // A redirect without a target completes without a report of its status.
        let outcome: Outcome = state.withLock { state in
            guard state.isAccepted else {
                return .failure(.refusedStatus)
            }
            return .success(
                FetchedKeySet(body: state.body, maxAgeSeconds: state.maxAgeSeconds))
        }
        end(with: outcome)
    }
}
