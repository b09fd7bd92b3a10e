import Cryptography
import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

extension ScratchDatabase {
    static let searchKey = SearchKey(SymmetricKey(Array(repeating: 0x21, count: 32)))

    /// Searches as support does, or without personal data.
    func search(
        _ text: String, comparingPersonalData: Bool = true, in tenant: TenantID = .default,
        keyring: WrappingKeyring = SequencerFixture.keyring
    ) async throws -> SearchResult {
        let term = try #require(SearchTerm(text) { RequestID($0) })
        let reads = SearchReads(
            url: runtimeURL, keys: (keyring: keyring, search: Self.searchKey)
        ) { Issue.record("\($0)") }
        let found = try await reads.found(
            by: term, comparesPersonalData: comparingPersonalData, in: tenant)
        await reads.close()
        return found
    }

    /// Searches for an id among fewer positions.
    func lookedUp(_ text: String, positionsMax: Int64) async throws -> SearchResult {
        let term = try #require(SearchTerm(text) { _ in nil })
        return try await asSuperuser.with { connection in
            try connection.transaction {
                var search = Search(
                    tenant: .default, term: term, emails: nil,
                    disclosures: DisclosureReader(keyring: SequencerFixture.keyring))
                search.positionsMax = positionsMax
                try search.lookUpIDs(on: connection)
                return try search.result(on: connection)
            }
        }
    }

    /// Runs one round for the e-mails of unlinked identities.
    func completeFormerEmails(
        keyring: WrappingKeyring = SequencerFixture.keyring
    ) async throws {
        try await FormerEmailWorker(url: runtimeURL, keyring: keyring, key: Self.searchKey) {
            Issue.record("\($0)")
        }.round()
    }

    /// Verifies every digest, and everything else.
    func verifySearch() async throws -> VerificationReport {
        let verifier = Verifier(
            url: runtimeURL, keyring: SequencerFixture.keyring, searchKey: Self.searchKey)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }

    /// Returns the stored digests by subject; `-` for an identity without one.
    func formerEmails() async throws -> [String] {
        try await asSuperuser.texts(
            """
            SELECT concat_ws(' ', provider_id, coalesce(octet_length(former_email)::text, '-'))
            FROM identities WHERE account_id IS NULL ORDER BY 1
            """)
    }
}

extension SymmetricKey {
    /// Creates a key of 32 bytes.
    init(_ bytes: [UInt8]) {
        guard let key = SymmetricKey(bytes: bytes) else { preconditionFailure("not 32 bytes") }
        self = key
    }
}

extension MergeFixture {
    /// Returns the results of a search, one line each, with names for ids.
    func found(_ text: String, comparingPersonalData: Bool = true) async throws -> [String] {
        let result = try await database.search(
            text, comparingPersonalData: comparingPersonalData)
        #expect(!result.hasMore)
        return named(result)
    }

    private func named(_ result: SearchResult) -> [String] {
        func name(_ account: AccountID) -> String {
            account == ada.account ? "ada" : account == bob.account ? "bob" : "somebody"
        }
        func words(_ matches: [SearchMatch]) -> String {
            matches.map(\.rawValue).joined(separator: "+")
        }
        let accounts = result.accounts.map { account in
            var line = "\(name(account.id)) \(account.state.rawValue)"
            if let survivor = account.mergedInto { line += " into \(name(survivor))" }
            if !account.absorbed.isEmpty {
                line += " with \(account.absorbed.map(name).joined(separator: ","))"
            }
            let providers = account.linkedProviders.map(\.description).joined(separator: ",")
            return line + " [\(providers)] \(words(account.matchedBy))"
        }
        let identities = result.identities.map {
            "\($0.provider) \($0.account == nil ? "last" : "of") \(name($0.lastAccount)) \(words($0.matchedBy))"
        }
        let events = result.events.map {
            "#\($0.recorded.position) \($0.recorded.event.name.rawValue) \(words($0.matchedBy))"
        }
        return accounts.sorted() + identities.sorted() + events
    }

    func identity(_ subject: String) async throws -> String {
        let ids = try await database.asSuperuser.texts(
            "SELECT identity_id::text FROM identities WHERE provider_id = '\(subject)'")
        return try #require(ids.first)
    }
}
