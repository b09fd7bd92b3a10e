package import HTTPClient

/// One request to a webhook endpoint.
package struct WebhookRequest: Hashable, Sendable {
    package let url: String
    package let fields: [ClientRequest.Field]
    package let body: [UInt8]

    /// Describes a request with the headers of standard-webhooks.
    ///
    /// - Parameters:
    ///   - url: The endpoint's URL.
    ///   - id: The id of the message, the same for each attempt.
    ///   - seconds: The time of this attempt.
    ///   - body: JSON.
    ///   - secrets: The signing secrets; more than one during a rotation.
    ///   - traceparent: The span that the receiver's work belongs to (W3C Trace Context).
    package init(
        url: String, id: String, seconds: Int64, body: [UInt8], secrets: [WebhookSecret],
        traceparent: String? = nil
    ) {
        self.url = url
        self.body = body
        let signatures = secrets.map { $0.signature(id: id, seconds: seconds, body: body) }
        fields =
            [
                ClientRequest.Field(name: "Content-Type", value: "application/json"),
                ClientRequest.Field(name: "webhook-id", value: id),
                ClientRequest.Field(name: "webhook-timestamp", value: String(seconds)),
                ClientRequest.Field(
                    name: "webhook-signature", value: signatures.joined(separator: " ")),
            ] + (traceparent.map { [ClientRequest.Field(name: "traceparent", value: $0)] } ?? [])
    }

    /// Returns the value of a field; nil when it is absent.
    package func field(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}

/// The outcome of a request.
package enum WebhookOutcome: Hashable, Sendable {
    /// The head of a response was received, whatever its body; redirects count too.
    case answered(status: Int, retryAfterSeconds: Int64?)
    case failed(WebhookFault)
}

/// The reason for a missing response.
package enum WebhookFault: String, Error, Sendable, CaseIterable {
    /// The address is not a URL, or is plain `http` to another machine.
    case unacceptableAddress = "unacceptable_address"
    /// The receiver's name can't be resolved or no connection can be made.
    case unreachable
    /// The receiver has no valid certificate.
    case untrusted
    /// The receiver took too long.
    case timedOut = "timed_out"
    /// The receiver closed the connection early or did not send HTTP.
    case broken
    /// The sender was stopped.
    case stopped

    init(_ fault: TransferFault) {
        self =
            switch fault {
            case .unacceptableAddress: .unacceptableAddress
            case .unreachable: .unreachable
            case .untrusted: .untrusted
            case .timedOut: .timedOut
            case .tooLarge, .broken: .broken
            case .stopped: .stopped
            }
    }
}
