/// What is sent to a webhook endpoint once.
package struct WebhookRequest: Hashable, Sendable {
    /// A header field.
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package let url: String
    package let fields: [Field]
    package let body: [UInt8]

    /// Describes a request with the headers of standard-webhooks.
    ///
    /// - Parameters:
    ///   - url: Where to.
    ///   - id: What is the same at each attempt.
    ///   - seconds: The time of this attempt.
    ///   - body: JSON.
    ///   - secrets: What signs it; more than one while a secret is being replaced.
    package init(
        url: String, id: String, seconds: Int64, body: [UInt8], secrets: [WebhookSecret]
    ) {
        self.url = url
        self.body = body
        let signatures = secrets.map { $0.signature(id: id, seconds: seconds, body: body) }
        fields = [
            Field(name: "Content-Type", value: "application/json"),
            Field(name: "webhook-id", value: id),
            Field(name: "webhook-timestamp", value: String(seconds)),
            Field(name: "webhook-signature", value: signatures.joined(separator: " ")),
        ]
    }

    /// The value of a field; nil when there is none of this name.
    package func field(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}

/// What became of a request.
package enum WebhookOutcome: Hashable, Sendable {
    /// The head of an answer came, whatever its body was; a redirect is an answer like any other.
    case answered(status: Int, retryAfterSeconds: Int64?)
    case failed(WebhookFault)
}

/// Why no answer came.
package enum WebhookFault: String, Error, Sendable, CaseIterable {
    /// The address is no URL, or plain `http` to another machine.
    case unacceptableAddress = "unacceptable_address"
    /// The receiver can't be found or connected to.
    case unreachable
    /// The receiver can't prove who it is.
    case untrusted
    /// The receiver took too long.
    case timedOut = "timed_out"
    /// The receiver broke off, or what it said is no HTTP.
    case broken
    /// The sender was stopped.
    case stopped
}
