internal import Foundation
internal import HTTP
internal import Synchronization

/// A receiver of webhooks over real HTTP: it records deliveries, answers with configured statuses, can
/// block requests, and can be stopped and started again at its address.
package final class WebhookReceiver: Sendable {
    /// A received request.
    package struct Delivery: Sendable {
        package let id: String
        package let timestamp: String
        package let signature: String
        package let traceparent: String?
        package let body: [UInt8]
        /// Seconds since 1970.
        package let receivedAt: Double

        private var members: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        }

        private var data: [String: Any] { members["data"] as? [String: Any] ?? [:] }

        /// The stored type of the event.
        package var type: String { members["type"] as? String ?? "" }

        /// The event's position in the log; -1 when the body has none.
        package var position: Int64 { (data["position"] as? String).flatMap { Int64($0) } ?? -1 }

        /// The accounts that the event touches, each with its number in that account's history.
        package var accounts: [String: Int64] {
            let accounts = (data["entry"] as? [String: Any])?["accounts"] as? [[String: Any]] ?? []
            return accounts.reduce(into: [:]) { found, account in
                if let id = account["id"] as? String, let text = account["seq"] as? String {
                    found[id] = Int64(text)
                }
            }
        }
    }

    private struct State {
        var deliveries: [Delivery] = []
        var answer: @Sendable (Delivery) -> Int = { _ in 200 }
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var server: HTTPServer?
    }

    private let state = Mutex(State())
    private let port: UInt16

    /// Starts listening on a free port.
    ///
    /// - Throws: what starting the listener throws.
    package init() throws {
        let reserved = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { _, _ in HTTPResponse(status: 400) },
            handler: { _ in HTTPResponse(status: 503) })
        port = reserved.port
        state.withLock { $0.server = reserved }
    }

    /// The URL for deliveries.
    package var url: String { "http://127.0.0.1:\(port)/hook" }

    /// The deliveries so far, in order of arrival.
    package var deliveries: [Delivery] { state.withLock(\.deliveries) }

    /// Answers with this status from now on.
    package func answer(_ answer: @escaping @Sendable (Delivery) -> Int) {
        state.withLock { $0.answer = answer }
    }

    /// Blocks every request from now on.
    package func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Unblocks all requests.
    package func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    /// Stops immediately, without regular answers to requests in progress.
    package func stopListening() async {
        let server = state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        await server?.stop(grace: .zero)
    }

    /// Starts again at the same address.
    ///
    /// - Throws: what starting the listener throws.
    package func listenAgain() async throws {
        await stopListening()
        let made = try HTTPServer(
            host: "127.0.0.1", port: port, limits: HTTPServerLimits(),
            reject: { _, _ in HTTPResponse(status: 400) },
            handler: { [weak self] request in
                HTTPResponse(status: await self?.receive(request) ?? 503)
            })
        state.withLock { $0.server = made }
    }

    private func receive(_ request: HTTPRequest) async -> Int {
        guard request.method == "POST", request.path == "/hook" else { return 404 }
        let delivery = Delivery(
            id: request.headers["webhook-id"] ?? "",
            timestamp: request.headers["webhook-timestamp"] ?? "",
            signature: request.headers["webhook-signature"] ?? "",
            traceparent: request.headers["traceparent"], body: request.body,
            receivedAt: Date().timeIntervalSince1970)
        state.withLock { $0.deliveries.append(delivery) }
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isClosed { state.waiting.append(continuation) }
                return !state.isClosed
            }
            if goesOn { continuation.resume() }
        }
        return state.withLock(\.answer)(delivery)
    }
}
