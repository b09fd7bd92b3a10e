import DevelopmentIdentityProvider
import HTTP
import LedgerChannels

/// `GET /dev/outbox`: the messages of the development mode, which show codes and links.
enum OutboxPage {
    /// Answers a request to the page; its host must be this machine, so that no web page can read it.
    static func answer(_ request: HTTPRequest, from outboxes: [DevelopmentOutbox]) -> HTTPResponse {
        guard DevelopmentIdentityProvider.isLoopback(host: request.headers["Host"] ?? "") else {
            return HTTPResponse(status: 421)
        }
        guard request.method == "GET" else {
            return HTTPResponse(status: 405, headers: [("Allow", "GET")])
        }
        return HTTPResponse(
            status: 200,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: DevelopmentOutbox.page(of: outboxes))
    }
}
