/// The answer of a provider that was asked for its key set.
package struct FetchedKeySet: Sendable {
    /// The document, unread.
    package let body: [UInt8]

    /// The `max-age` of its `Cache-Control` header in seconds, when it has one.
    package let maxAgeSeconds: Int64?

    /// Makes an answer.
    package init(body: [UInt8], maxAgeSeconds: Int64?) {
        self.body = body
        self.maxAgeSeconds = maxAgeSeconds
    }
}
