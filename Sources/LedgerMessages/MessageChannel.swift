package import Ledger

/// The way by which a message reaches a person.
package enum MessageChannel: String, Hashable, Sendable, CaseIterable {
    case email
    case sms
}

/// The kind of a ``MessageID``.
package enum MessageKind {}

/// The id of one message to one recipient; the same at each attempt to send it.
package typealias MessageID = EntityID<MessageKind>

/// Why a message is refused before it is written.
package enum MessageFault: Error, Hashable, Sendable {
    /// The recipient is no address of the channel.
    case recipient
    /// The template has no text for the channel.
    case channel
    /// A value that the template needs is missing.
    case missing(MessagePlaceholder)
    /// A value has another form than its placeholder allows, or the template does not have it.
    case unacceptable(MessagePlaceholder)
    /// It would be valid for no time, or for more than a day.
    case lifetime
    /// No key of the key directory encrypts it.
    case noKey
}
