/// Sends requests to other servers over libcurl.
///
/// Certificates are verified and redirects are not followed; no cookies or credentials are kept. Plain `http`
/// is refused unless the host is this machine. Requests to other machines go through the proxy that
/// `https_proxy` names, if it is set. One thread drives all transfers of a client, so a server that does not
/// answer delays no other one, and connections are kept for the next request.
package final class HTTPClient: Sendable {
    /// The client of requests that nothing stops before their time limit.
    package static let shared = HTTPClient()

    private let loop = TransferLoop()

    /// Creates a client; its thread starts with the first request.
    package init() {}

    deinit {
        loop.stop()
    }

    /// Sends a request and waits for the end of its answer.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: Longest time from now to the last byte of the answer.
    ///   - trustedFile: Certificates to trust, as a PEM file; nil for those that the system trusts.
    /// - Returns: The answer, whose body may be incomplete.
    /// - Throws: `TransferFault` when the head of the answer is incomplete.
    package func send(
        _ request: ClientRequest, within limit: Duration, trustedFile: String? = nil
    ) async throws(TransferFault) -> ClientAnswer {
        let result = await withCheckedContinuation { continuation in
            let end: @Sendable (Result<ClientAnswer, TransferFault>) -> Void = {
                continuation.resume(returning: $0)
            }
            loop.begin(
                TransferLoop.Job(
                    start: { () throws(TransferFault) in
                        let transfer = try Transfer(
                            request, within: limit, trustedFile: trustedFile)
                        return TransferLoop.Running(
                            transfer: transfer, end: { end(transfer.result($0)) })
                    }, fail: { end(.failure($0)) }))
        }
        return try result.get()
    }

    /// Connects to the host of an address, through the proxy and with TLS, and sends it no request.
    ///
    /// - Throws: `TransferFault` when the host can't be connected to.
    package func reach(_ url: String, within limit: Duration) async throws(TransferFault) {
        let request = ClientRequest(url: url, fields: [], answerBody: .dropped(bytesMax: 0))
        let fault = await withCheckedContinuation {
            (continuation: CheckedContinuation<TransferFault?, Never>) in
            loop.begin(
                TransferLoop.Job(
                    start: { () throws(TransferFault) in
                        TransferLoop.Running(
                            transfer: try Transfer(request, within: limit, connectsOnly: true),
                            end: { continuation.resume(returning: Transfer.fault($0)) })
                    }, fail: { continuation.resume(returning: $0) }))
        }
        if let fault { throw fault }
    }

    /// Ends every request under way, and every later one at once.
    package func stop() {
        loop.stop()
    }
}
