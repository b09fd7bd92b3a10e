/// What the server itself must answer without the handler; the owner renders it.
package enum HTTPRejection: Error, Sendable, CaseIterable {
    /// The body is longer than the limit: 413.
    case bodyTooLarge
    /// The request line, a header field, the length, the host or the query breaks the rules of HTTP: 400.
    case malformed
    /// The request has a `Transfer-Encoding`, where only `Content-Length` says where a body ends: 411.
    case lengthRequired
    /// Too many requests are being handled, or the server stops: 503.
    case overloaded
    /// The handler's answer can't be sent: 500.
    case internalFailure
    /// The header section is longer than the limit or has too many fields: 431.
    case headersTooLarge
    /// The client expects what is not `100-continue`: 417.
    case expectationUnknown
}
