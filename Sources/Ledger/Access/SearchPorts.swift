/// The kind of a ``SearchedID``.
package enum SearchedKind {}
/// An id of unknown kind.
package typealias SearchedID = EntityID<SearchedKind>

/// A search term: by its form an id, an e-mail, a phone number, or a provider's name for a subject.
package struct SearchTerm: Hashable, Sendable {
    /// The form of a term: all that the access log records of it.
    package enum Kind: String, Sendable, CaseIterable {
        case id
        case email
        case phone
        case providerID = "provider_id"
    }

    /// The maximum length of a term, in bytes: that of the longest e-mail.
    package static let bytesMax = 320
    /// The rule in words.
    package static let form = "1 to \(bytesMax) bytes without control characters"

    /// The unchanged term: may be personal data, so it is only ever bound to statements.
    package let text: String
    /// The id that the term spells; nil for any other form.
    package let id: SearchedID?
    /// The term in the form in which e-mails are compared; nil when it cannot be one.
    package let email: String?
    /// The canonical form of the phone number; nil for any other form.
    package let phone: String?
    /// The names of the phone number in the tenant of the search, by every key.
    package var addresses: [AddressName] = []
    /// The id of a request that its client gave this name; nil when no request can have it.
    package let request: RequestID?

    /// Reads a term; nil when it is empty, too long or contains control characters.
    ///
    /// - Parameters:
    ///   - text: the term.
    ///   - named: returns the id that the log uses for a client's name of a request.
    ///   - number: returns the canonical form of a phone number in international form.
    package init?(
        _ text: String, named: (String) -> RequestID?, number: (String) -> String? = { _ in nil }
    ) {
        let trimmed = Self.trimmed(text)
        guard text.utf8.count <= Self.bytesMax, !trimmed.isEmpty,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        self.text = text
        id = SearchedID(trimmed)
        email = text.utf8.contains(UInt8(ascii: "@")) ? Self.comparable(email: text) : nil
        let mayBeNumber = email == nil && trimmed.utf8.first == UInt8(ascii: "+")
        phone = mayBeNumber ? number(trimmed) : nil
        request = named(trimmed)
    }

    /// The form of the term.
    package var kind: Kind {
        if id != nil { return .id }
        if email != nil { return .email }
        return phone == nil ? .providerID : .phone
    }

    /// Returns an e-mail in the form that is compared: trimmed, with ASCII letters in lower case.
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

/// The property by which something matched.
package enum SearchMatch: String, Sendable, Hashable, CaseIterable, Comparable {
    case accountID = "account_id"
    case identityID = "identity_id"
    case eventID = "event_id"
    case requestID = "request_id"
    /// Its e-mail, which the provider verified.
    case email
    /// Its e-mail, which is not known to be verified: a made-up address matches, too.
    case unverifiedEmail = "unverified_email"
    case formerEmail = "former_email"
    case unverifiedFormerEmail = "unverified_former_email"
    /// Its phone number, which a code has confirmed.
    case phone
    case formerPhone = "former_phone"
    case providerID = "provider_id"
    case formerProviderID = "former_provider_id"
    /// It is the survivor of an account that matched.
    case absorbedAccount = "absorbed_account"

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Returns the match for an e-mail.
    package static func email(isVerified: Bool?, isFormer: Bool) -> Self {
        if isVerified == true { return isFormer ? .formerEmail : .email }
        return isFormer ? .unverifiedFormerEmail : .unverifiedEmail
    }

    /// Whether it is by a current or former e-mail.
    package var isByEmail: Bool {
        switch self {
        case .email, .unverifiedEmail, .formerEmail, .unverifiedFormerEmail: true
        case .accountID, .identityID, .eventID, .requestID, .phone, .formerPhone, .providerID,
            .formerProviderID, .absorbedAccount:
            false
        }
    }

    /// Whether results with only this match sort last.
    package var isUncertain: Bool {
        [.unverifiedEmail, .unverifiedFormerEmail, .absorbedAccount].contains(self)
    }
}

/// An account that was found; no personal data.
package struct FoundAccount: Hashable, Sendable {
    /// The state of an account.
    package enum State: String, Sendable {
        case live
        /// Support disabled it: nothing signs in to it.
        case disabled
        case absorbed
        case erased
    }

    package let id: AccountID
    package let state: State
    /// The account that it was merged into; set only for ``State/absorbed``.
    package let mergedInto: AccountID?
    /// The accounts that were merged into it, without those whose merge was undone.
    package let absorbed: [AccountID]
    /// In linking order, without duplicates.
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

/// An identity that was found, by its opaque id.
package struct FoundIdentity: Hashable, Sendable {
    package let id: IdentityID
    package let provider: ProviderName
    /// The account that it belongs to; nil when it is unlinked.
    package let account: AccountID?
    /// The account that it belonged to last.
    package let lastAccount: AccountID
    /// Whether the e-mail that matched is verified, if known.
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

/// The results of a search; no personal data.
package struct SearchResult: Hashable, Sendable {
    /// The maximum number of results of each kind.
    package static let hitsMax = 100

    /// Sorted by id; accounts that only an unverified e-mail leads to come last.
    package let accounts: [FoundAccount]
    /// In the same order.
    package let identities: [FoundIdentity]
    /// In commit order.
    package let events: [FoundEvent]
    /// Whether there may be more results than are shown.
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

    /// The number of accounts touched by the requests with the id; nil when none matched by
    /// request.
    ///
    /// Clients choose the ids of requests, and two clients may send the same one.
    package var requestAccounts: Int? {
        let count = accounts.count { $0.matchedBy.contains(.requestID) }
        return count > 0 ? count : nil
    }

    /// The maximum number of accounts that the access log names.
    private static let namedMax = 20

    /// Returns the details for the access log: the kind of the term and the accounts found, never
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

/// Finds accounts by any term that identifies them.
package protocol SearchReader: Sendable {
    /// Returns the exact matches of a term.
    ///
    /// `comparesPersonalData` controls whether the term is compared with e-mails, phone numbers
    /// and providers' names for subjects; ids are always looked up.
    func found(
        by term: SearchTerm, comparesPersonalData: Bool, in tenant: TenantID
    ) async throws(LedgerFault) -> SearchResult

    /// Returns the e-mails of the identities of some accounts that have one.
    ///
    /// Waits, within a limit, until the read model has caught up with the log.
    func emails(
        of accounts: [AccountID], in tenant: TenantID
    ) async throws(LedgerFault) -> [IdentityID: Email]
}

extension SearchReader {
    /// Returns whether the e-mails of some accounts' identities are verified.
    package func emailFlags(
        of accounts: [AccountID], in tenant: TenantID
    ) async throws(LedgerFault) -> EmailFlags {
        try await emails(of: accounts, in: tenant).mapValues { $0.isVerified }
    }
}

/// Whether the e-mails of identities are verified: nil when unknown; identities without an e-mail
/// are absent.
package typealias EmailFlags = [IdentityID: Bool?]

extension MergePlan {
    /// Returns whether the e-mails of its identities are verified, which a preview must show.
    ///
    /// A lagging read model does not block merging: all flags are unknown then.
    package func emailFlags(
        from searches: any SearchReader, in tenant: TenantID
    ) async -> EmailFlags {
        do throws(LedgerFault) {
            return try await searches.emailFlags(of: [survivor, absorbed], in: tenant)
        } catch {
            return Dictionary(
                (links + dropped + replaced).map { ($0.identity, nil) }, uniquingKeysWith: { $1 })
        }
    }
}
