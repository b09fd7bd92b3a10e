/// A provider's response to a request for its key set.
package struct FetchedKeySet: Sendable {
    /// The unparsed document.
    package let body: [UInt8]

    /// The `max-age` of its `Cache-Control` header in seconds, when it has one.
    package let maxAgeSeconds: Int64?

    /// Creates a response.
    package init(body: [UInt8], maxAgeSeconds: Int64?) {
        self.body = body
        self.maxAgeSeconds = maxAgeSeconds
    }
}
