/// A legal hold, and the event that set it.
package struct PlacedHold: Hashable, Sendable {
    package let hold: HoldID
    package let event: EventID
    package let mark: LogMark

    /// Pairs a hold with its event.
    package init(hold: HoldID, event: EventID, mark: LogMark) {
        self.hold = hold
        self.event = event
        self.mark = mark
    }
}

/// The personal data beside the state of an account, as it is now.
package struct AccountPersonalData: Hashable, Sendable {
    /// The e-mails of its identities that have one.
    package var emails: [IdentityID: Email]
    /// The names that the person gave to passkeys.
    package var names: [IdentityID: IdentityName]
    /// The reasons for its legal holds, where the access log has them.
    package var holdReasons: [HoldID: String]

    /// Collects the data.
    package init(
        emails: [IdentityID: Email] = [:], names: [IdentityID: IdentityName] = [:],
        holdReasons: [HoldID: String] = [:]
    ) {
        self.emails = emails
        self.names = names
        self.holdReasons = holdReasons
    }
}
