/// The kind of a ``SearchedID``.
package enum SearchedKind {}
/// An id of which nobody has said what it names.
package typealias SearchedID = EntityID<SearchedKind>

/// The one thing that is searched for, by its form an id, an e-mail or a provider's name for a subject.
package struct SearchTerm: Hashable, Sendable {
    /// What a term looks like: all that the access log is told of one.
    package enum Kind: String, Sendable, CaseIterable {
        case id
        case email
        case providerID = "provider_id"
    }

    /// The longest term: what the longest e-mail has.
    package static let bytesMax = 320
    /// The rule in words.
    package static let form = "1 to \(bytesMax) bytes without control characters"

    /// What was asked for, to the letter: may be personal data, so it goes nowhere but into statements.
    package let text: String
    /// What a UUID may name; nil for anything else.
    package let id: SearchedID?
    /// The term as e-mails are compared; nil for one that can be none.
    package let email: String?
    /// What requests are called that a client named so; nil for what no request can be called.
    package let request: RequestID?

    /// Reads a term; nil for one that is empty, too long or holds control characters.
    ///
    /// - Parameters:
    ///   - text: what was asked for.
    ///   - named: how the log calls a request that a client named so.
    package init?(_ text: String, named: (String) -> RequestID?) {
        let trimmed = Self.trimmed(text)
        guard text.utf8.count <= Self.bytesMax, !trimmed.isEmpty,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        self.text = text
        id = SearchedID(trimmed)
        email = text.utf8.contains(UInt8(ascii: "@")) ? Self.comparable(email: text) : nil
        request = named(trimmed)
    }

    /// What it looks like.
    package var kind: Kind {
        if id != nil { return .id }
        return email == nil ? .providerID : .email
    }

    /// The e-mail as searches compare it: without blanks around, ASCII letters in lower case.
    package static func comparable(email: String) -> String {
        String(
            decoding: trimmed(email).utf8.map { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            }, as: UTF8.self)
    }

    private static func trimmed(_ text: String) -> String {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { !blanks.contains($0) }),
            let last = bytes.lastIndex(where: { !blanks.contains($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}

/// By what something was found.
package enum SearchMatch: String, Sendable, Hashable, CaseIterable, Comparable {
    case accountID = "account_id"
    case identityID = "identity_id"
    case eventID = "event_id"
    case requestID = "request_id"
    /// Its e-mail, which the provider verified.
    case email
    /// Its e-mail, of which nobody knows that it was verified: whoever makes one up is found by it, too.
    case unverifiedEmail = "unverified_email"
    case formerEmail = "former_email"
    case unverifiedFormerEmail = "unverified_former_email"
    case providerID = "provider_id"
    case formerProviderID = "former_provider_id"
    /// It stands for an account that was found.
    case absorbedAccount = "absorbed_account"

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// By an e-mail, for what is known of it.
    package static func email(isVerified: Bool?, isFormer: Bool) -> Self {
        if isVerified == true { return isFormer ? .formerEmail : .email }
        return isFormer ? .unverifiedFormerEmail : .unverifiedEmail
    }

    /// Whether it is by an e-mail, of now or of before.
    package var isByEmail: Bool {
        switch self {
        case .email, .unverifiedEmail, .formerEmail, .unverifiedFormerEmail: true
        case .accountID, .identityID, .eventID, .requestID, .providerID, .formerProviderID,
            .absorbedAccount:
            false
        }
    }

    /// Whether what is found by it alone comes behind everything else.
    package var isUncertain: Bool {
        [.unverifiedEmail, .unverifiedFormerEmail, .absorbedAccount].contains(self)
    }
}

/// An account that was found: no personal data.
package struct FoundAccount: Hashable, Sendable {
    /// What has become of it.
    package enum State: String, Sendable {
        case live
        case absorbed
        case erased
    }

    package let id: AccountID
    package let state: State
    /// The account that it was merged into; set for ``State/absorbed`` only.
    package let mergedInto: AccountID?
    /// The accounts that were merged into it and have not been taken out again.
    package let absorbed: [AccountID]
    /// In linking order, each once.
    package let linkedProviders: [ProviderName]
    /// Sorted.
    package let matchedBy: [SearchMatch]

    /// Describes an account.
    package init(
        id: AccountID, state: State, mergedInto: AccountID?, absorbed: [AccountID],
        linkedProviders: [ProviderName], matchedBy: [SearchMatch]
    ) {
        self.id = id
        self.state = state
        self.mergedInto = mergedInto
        self.absorbed = absorbed
        self.linkedProviders = linkedProviders
        self.matchedBy = matchedBy
    }
}

/// An identity that was found, by its opaque name.
package struct FoundIdentity: Hashable, Sendable {
    package let id: IdentityID
    package let provider: ProviderName
    /// The account that it belongs to; nil when it belongs to none.
    package let account: AccountID?
    /// The account that it belonged to last.
    package let lastAccount: AccountID
    /// What is known of the e-mail by which it was found.
    package let isEmailVerified: Bool?
    /// Sorted.
    package let matchedBy: [SearchMatch]

    /// Describes an identity.
    package init(
        id: IdentityID, provider: ProviderName, account: AccountID?, lastAccount: AccountID,
        isEmailVerified: Bool?, matchedBy: [SearchMatch]
    ) {
        self.id = id
        self.provider = provider
        self.account = account
        self.lastAccount = lastAccount
        self.isEmailVerified = isEmailVerified
        self.matchedBy = matchedBy
    }
}

/// An event that was found.
package struct FoundEvent: Hashable, Sendable {
    package let recorded: RecordedEvent
    /// Sorted.
    package let matchedBy: [SearchMatch]

    /// Describes an event.
    package init(recorded: RecordedEvent, matchedBy: [SearchMatch]) {
        self.recorded = recorded
        self.matchedBy = matchedBy
    }
}

/// What a search found: nothing that is personal data.
package struct SearchResult: Hashable, Sendable {
    /// How many of each are shown at the most.
    package static let hitsMax = 100

    /// In the order of their ids, behind all others what only an unverified e-mail leads to.
    package let accounts: [FoundAccount]
    /// In the same order.
    package let identities: [FoundIdentity]
    /// In commit order.
    package let events: [FoundEvent]
    /// Whether there may be more than is shown.
    package let hasMore: Bool

    /// Collects what was found.
    package init(
        accounts: [FoundAccount], identities: [FoundIdentity], events: [FoundEvent], hasMore: Bool
    ) {
        self.accounts = accounts
        self.identities = identities
        self.events = events
        self.hasMore = hasMore
    }

    /// How many accounts the requests touched that have the id which was searched for; nil when none was
    /// found by that.
    ///
    /// Ids of requests come from clients, of which two may send the same.
    package var requestAccounts: Int? {
        let count = accounts.count { $0.matchedBy.contains(.requestID) }
        return count > 0 ? count : nil
    }

    /// The most accounts that the access log names.
    private static let namedMax = 20

    /// What the access log is told: what kind of thing was searched for and which accounts were found, never
    /// the term.
    package func details(of term: SearchTerm) -> [String: String] {
        var details = [
            "kind": term.kind.rawValue, "found": "\(accounts.count)",
            "accounts": accounts.prefix(Self.namedMax).map(\.id.description).joined(separator: " "),
        ]
        if accounts.isEmpty { details["accounts"] = nil }
        return details
    }
}

/// Finds accounts by anything that somebody holds.
package protocol SearchReader: Sendable {
    /// What matches a term exactly.
    ///
    /// Whether the term is compared with personal data, e-mails and the names that providers give, is said by
    /// `comparesPersonalData`; ids are always looked up.
    func found(
        by term: SearchTerm, comparesPersonalData: Bool, in tenant: TenantID
    ) async throws(LedgerFault) -> SearchResult

    /// Which identities of some accounts have an e-mail, each with whether it is known to be verified.
    ///
    /// Waits, within a limit, until the read model has come to where the log is.
    func emailFlags(
        of accounts: [AccountID], in tenant: TenantID
    ) async throws(LedgerFault) -> EmailFlags
}

/// Whether the e-mails of identities are verified; nil where nobody knows, and nothing of one without an e-mail.
package typealias EmailFlags = [IdentityID: Bool?]
