internal import Encodings
internal import HTTPClient
internal import JSON
package import Ledger
package import LedgerEngine
internal import LedgerMessages
package import StandardWebhooks

/// Sends messages by signed requests to a service of the operator (Standard Webhooks).
package final class HookTransport: MessageTransport {
    private let client = HTTPClient()
    private let url: String
    private let secret: WebhookSecret
    private let now: @Sendable () -> Timestamp

    /// Creates a transport to a URL, whose requests a secret signs.
    package init(
        url: String, secret: WebhookSecret, now: @escaping @Sendable () -> Timestamp
    ) {
        (self.url, self.secret, self.now) = (url, secret, now)
    }

    /// Sends a message; returns within ``secondsMax``.
    package func send(_ message: RenderedMessage) async -> MessageOutcome {
        var writer = JSONWriter()
        let time = now()
        writer.object { writer in
            writer.member("type", "message.\(message.channel.rawValue)")
            writer.member("timestamp", time.description)
            writer.name("data")
            writer.object { writer in
                writer.member("tenant", message.tenant.description)
                writer.member("message_id", message.id.description)
                writer.member("to", message.recipient)
                writer.member("text", message.text.body)
                writer.member("template", message.template.rawValue)
                writer.member("language", message.language.rawValue)
            }
        }
        let request = WebhookRequest(
            url: url, id: message.id.description, seconds: time.seconds, body: writer.bytes,
            secrets: [secret])
        return await client.outcome(
            of: ClientRequest(
                url: request.url, fields: request.fields, body: request.body,
                answerBody: .dropped(bytesMax: HTTPClient.answerBytesMax)))
    }

    /// Ends every attempt under way, and every later one at once.
    package func stop() {
        client.stop()
    }
}

/// Sends SMS by the interface of Twilio, which other services imitate.
package final class TwilioTransport: MessageTransport {
    /// Twilio's own address.
    package static let defaultURL = "https://api.twilio.com"

    private let client = HTTPClient()
    private let url: String
    private let authorization: String
    private let sender: String

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The beginning of the URL, without a slash at its end.
    ///   - account: The account's id.
    ///   - token: Its token.
    ///   - sender: A phone number, a short name, or the id of a messaging service (`MG...`).
    package init(base: String = defaultURL, account: String, token: String, from sender: String) {
        url = "\(base)/2010-04-01/Accounts/\(PercentEncoding.encode(account))/Messages.json"
        authorization = "Basic " + Base64.encode(Array("\(account):\(token)".utf8))
        self.sender = sender
    }

    /// Sends a message; returns within ``secondsMax``.
    package func send(_ message: RenderedMessage) async -> MessageOutcome {
        let fields = [
            ("To", message.recipient),
            (sender.hasPrefix("MG") ? "MessagingServiceSid" : "From", sender),
            ("Body", message.text.body),
        ]
        let body = fields.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        return await client.outcome(
            of: ClientRequest(
                url: url,
                fields: [
                    ClientRequest.Field(
                        name: "Content-Type", value: "application/x-www-form-urlencoded"),
                    ClientRequest.Field(name: "Authorization", value: authorization),
                ], body: Array(body.utf8),
                answerBody: .dropped(bytesMax: HTTPClient.answerBytesMax)))
    }

    /// Ends every attempt under way, and every later one at once.
    package func stop() {
        client.stop()
    }
}

extension HTTPClient {
    /// The most bytes of an answer that are read.
    fileprivate static let answerBytesMax = 65_536
    /// The statuses that say that this message will never be accepted; others may be about the configuration
    /// or the moment.
    private static let refusals: Set<Int> = [400, 410, 413, 422]

    /// Sends a request and classifies its answer.
    fileprivate func outcome(of request: ClientRequest) async -> MessageOutcome {
        do throws(TransferFault) {
            let answer = try await send(request, within: .seconds(HookTransport.secondsMax))
            switch answer.status {
            case 200...299: return .accepted(code: answer.status)
            case let status where Self.refusals.contains(status): return .refused(code: status)
            case 401, 403, 407: return .deferred(code: answer.status, .unauthorized)
            default:
                return .deferred(
                    code: answer.status, .busy, retryAfterSeconds: answer.retryAfterSeconds)
            }
        } catch {
            return .deferred(code: nil, MessageFailure(error))
        }
    }
}
