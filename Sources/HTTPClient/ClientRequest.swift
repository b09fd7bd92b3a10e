/// One request to another server.
package struct ClientRequest: Sendable {
    /// A header field.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        /// Creates a field of a name and a value, neither of which may hold a line break.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The part of an answer's body that is read.
    package enum BodyRule: Sendable {
        /// The body of an answer with one of these statuses is returned, up to so many bytes; any other answer ends
        /// with its head.
        case kept(bytesMax: Int, of: Set<Int> = [200])
        /// Up to so many bytes are read and dropped, so that the connection can be used again.
        case dropped(bytesMax: Int)
    }

    package let url: String
    package let fields: [Field]
    package let body: [UInt8]?
    package let answerBody: BodyRule

    /// Describes a request.
    ///
    /// - Parameters:
    ///   - url: `https`, or `http` to this machine.
    ///   - fields: Header fields besides those of every request.
    ///   - body: The bytes to POST; nil for a GET.
    ///   - answerBody: The part of the answer's body that is read.
    package init(
        url: String, fields: [Field], body: [UInt8]? = nil, answerBody: BodyRule
    ) {
        self.url = url
        self.fields = fields
        self.body = body
        self.answerBody = answerBody
    }
}

/// An answer whose head is complete.
package struct ClientAnswer: Sendable {
    package let status: Int
    /// Empty unless the request keeps the body.
    package let body: [UInt8]
    /// The values of `Cache-Control`, joined as in RFC 9110 section 5.3; nil when the field is absent.
    package let cacheControl: String?
    /// The pause that `Retry-After` names, in seconds; nil when it names none.
    package let retryAfterSeconds: Int64?
    /// The reason why the body is incomplete; nil for a complete one and for one that is not read.
    package let interruption: TransferFault?
}

/// The reason why an answer is absent or incomplete.
package enum TransferFault: Error, Hashable, Sendable {
    /// The address is malformed, or plain `http` to another machine.
    case unacceptableAddress
    /// The server can't be found or connected to.
    case unreachable
    /// The server's certificate is not trusted.
    case untrusted
    /// The time limit has passed.
    case timedOut
    /// The head or the body of the answer is larger than allowed.
    case tooLarge
    /// The connection ended early, or the answer is not HTTP.
    case broken
    /// The client was stopped.
    case stopped
}
