internal import HTTP

extension HTTPResponse {
    /// The answer to OPTIONS: the methods that a path has.
    static func allowing(_ methods: [String]) -> HTTPResponse {
        HTTPResponse(status: 204, headers: [("Allow", methods.joined(separator: ", "))])
    }

    /// An answer whose body is text.
    static func text(_ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: Array(text.utf8))
    }

    /// An answer whose body is JSON.
    static func json(
        _ body: some JSONWritable, status: Int = 200,
        headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        var writer = JSONWriter()
        body.write(to: &writer)
        return json(bytes: writer.bytes, status: status, headers: headers)
    }

    /// An answer whose body is JSON that was written before.
    static func json(
        bytes: [UInt8], status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        var all: [(name: String, value: String)] = []
        // Every answer gets the request's name and how it may be kept as well.
        all.reserveCapacity(3 + headers.count)
        all.append(("Content-Type", "application/json"))
        all += headers
        return HTTPResponse(status: status, headers: all, body: bytes)
    }
}
