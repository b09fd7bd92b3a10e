internal import JSON
internal import Ledger
package import LedgerEngine
internal import LedgerMessages
internal import Synchronization

/// Keeps the last messages readable in memory instead of sending them, or beside that.
///
/// For the development mode only: its page shows codes.
package final class DevelopmentOutbox: MessageTransport {
    /// The path of the page.
    package static let path = "/dev/outbox"
    private static let countMax = 1_000

    private let messages = Mutex<[RenderedMessage]>([])
    private let next: (any MessageTransport)?

    /// Creates an outbox that passes messages on; nil to send nothing.
    package init(to next: (any MessageTransport)? = nil) {
        self.next = next
    }

    /// Sends a message; returns within ``secondsMax``.
    package func send(_ message: RenderedMessage) async -> MessageOutcome {
        let outcome = await next?.send(message) ?? .accepted(code: nil)
        messages.withLock { messages in
            messages.append(message)
            if messages.count > Self.countMax { messages.removeFirst() }
        }
        return outcome
    }

    /// Ends every attempt under way, and every later one at once.
    package func stop() {
        next?.stop()
    }

    /// Returns the messages of the outboxes of all channels as JSON, the newest first.
    package static func page(of boxes: [DevelopmentOutbox]) -> [UInt8] {
        let all = boxes.flatMap { $0.messages.withLock(\.self) }.sorted { $0.id > $1.id }
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("messages")
            writer.array { writer in
                for message in all {
                    writer.object { writer in
                        writer.member("message_id", message.id.description)
                        writer.member("tenant", message.tenant.description)
                        writer.member("channel", message.channel.rawValue)
                        writer.member("template", message.template.rawValue)
                        writer.member("language", message.language.rawValue)
                        writer.member("to", message.recipient)
                        if let subject = message.text.subject { writer.member("subject", subject) }
                        writer.member("text", message.text.body)
                    }
                }
            }
        }
        return writer.bytes
    }
}
