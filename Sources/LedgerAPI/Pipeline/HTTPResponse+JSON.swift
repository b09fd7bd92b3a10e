internal import HTTP
import JSON

extension HTTPResponse {
    /// The response to OPTIONS: the methods of the path.
    static func allowing(_ methods: [String]) -> HTTPResponse {
        HTTPResponse(status: 204, headers: [("Allow", methods.joined(separator: ", "))])
    }

    /// Returns a plain-text response.
    static func text(_ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: Array(text.utf8))
    }

    /// Returns a JSON response.
    static func json(
        _ body: some JSONWritable, status: Int = 200,
        headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        var writer = JSONWriter()
        body.write(to: &writer)
        return json(bytes: writer.bytes, status: status, headers: headers)
    }

    /// Returns a response whose body is already encoded as JSON.
    static func json(
        bytes: [UInt8], status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        var all: [(name: String, value: String)] = []
        // `X-Request-Id` and `Cache-Control` are added to every response.
        all.reserveCapacity(3 + headers.count)
        all.append(("Content-Type", "application/json"))
        all += headers
        return HTTPResponse(status: status, headers: all, body: bytes)
    }
}
