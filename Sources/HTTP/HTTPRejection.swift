/// A request that the server answers without the handler; the owner renders the response.
package enum HTTPRejection: Error, Sendable, CaseIterable {
    /// The body is longer than the limit: 413.
    case bodyTooLarge
    /// The request line, a header field, the length, the host or the query breaks the rules of HTTP: 400.
    case malformed
    /// The request has a `Transfer-Encoding`; only `Content-Length` is supported: 411.
    case lengthRequired
    /// Too many requests are in flight, or the server is stopping: 503.
    case overloaded
    /// The handler's response can't be sent: 500.
    case internalFailure
    /// The header section is longer than the limit or has too many fields: 431.
    case headersTooLarge
    /// The client expects something other than `100-continue`: 417.
    case expectationUnknown
}
