package import Ledger

/// A search in the recordings of an in-memory ledger, without merges.
package struct InMemorySearch: SearchReader {
    private let ledger: InMemoryLedger

    /// Searches this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the last known e-mails of the accounts' identities.
    package func emails(
        of accounts: [AccountID], in tenant: TenantID
    ) async throws(LedgerFault) -> [IdentityID: Email] {
        var emails: [IdentityID: Email] = [:]
        for recording in ledger.recordings(of: tenant) {
            guard let account = recording.recorded.accounts.first?.id, accounts.contains(account),
                let identity = recording.recorded.event.fact.attributes.identity,
                let email = DisclosedValues(recording.disclosed).email
            else { continue }
            emails[identity] = email
        }
        return emails
    }

    /// Returns the accounts, identities and events that match a term.
    package func found(
        by term: SearchTerm, comparesPersonalData: Bool, in tenant: TenantID
    ) async throws(LedgerFault) -> SearchResult {
        var accounts: [AccountID: Set<SearchMatch>] = [:]
        var events: [FoundEvent] = []
        if comparesPersonalData {
            for (account, match) in ledger.holders(of: term.addresses, in: tenant) {
                accounts[account, default: []].insert(match)
            }
        }
        for recording in ledger.recordings(of: tenant) {
            let recorded = recording.recorded
            var matches: [SearchMatch] = []
            if let id = term.id {
                for account in recorded.accounts where account.id.bits == id.bits {
                    accounts[account.id, default: []].insert(.accountID)
                }
                if recorded.id.bits == id.bits { matches.append(.eventID) }
            }
            if let request = term.request, recorded.request == request {
                matches.append(.requestID)
            }
            if comparesPersonalData, let first = recorded.accounts.first {
                for disclosure in recording.disclosed {
                    if disclosure.name == .providerID, disclosure.value == term.text {
                        accounts[first.id, default: []].insert(.providerID)
                    }
                }
                if let email = DisclosedValues(recording.disclosed).email,
                    SearchTerm.comparable(email: email.address) == term.email
                {
                    accounts[first.id, default: []].insert(
                        .email(isVerified: email.isVerified, isFormer: false))
                }
            }
            guard !matches.isEmpty else { continue }
            events.append(FoundEvent(recorded: recorded, matchedBy: matches.sorted()))
            for account in recorded.accounts {
                accounts[account.id, default: []].formUnion(matches)
            }
        }
        return SearchResult(
            accounts: accounts.sorted { $0.key < $1.key }.map { id, matches in
                FoundAccount(
                    id: id, state: .live, mergedInto: nil, absorbed: [], linkedProviders: [],
                    matchedBy: matches.sorted())
            }, identities: [], events: events, hasMore: false)
    }
}
