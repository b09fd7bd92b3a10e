package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Reads the accounts of a tenant with their subjects, addresses and hashes, page by page.
///
/// Personal data: the reader records the access first.
package struct UserExport: Sendable {
    /// The number of accounts of a page.
    package static let pageMax = 500

    private static let accounts = Statement(
        "export_accounts",
        """
        SELECT account_id, disabled_position, second_factors IS NOT NULL AS has_factors
        FROM accounts
        WHERE tenant_id = $1 AND account_id > $2 AND merged_into IS NULL
        ORDER BY account_id LIMIT $3
        """)

    private static let identities = Statement(
        "export_identities",
        """
        SELECT i.account_id, i.identity_id, i.provider, i.provider_id
        FROM unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT * FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id AND account_id IS NOT NULL
            OFFSET 0) i
        ORDER BY i.linked_position
        """)

    private static let names = Statement(
        "export_names",
        """
        \(MergedAccounts.family)
        SELECT f.survivor, n.source, n.external_id FROM family f
        CROSS JOIN LATERAL (
            SELECT * FROM names WHERE tenant_id = $1 AND account_id = f.account_id
            OFFSET 0) n
        ORDER BY f.depth, n.position
        """)

    private static let addressList: SelectList = AddressLoad.Columns.selected("d")
    private static let addressColumns = AddressLoad.Columns("d", in: addressList)
    private static let addresses = Statement(
        "export_addresses",
        """
        SELECT \(addressList.sql) FROM unnest($2::uuid[]) AS k (address_id)
        CROSS JOIN LATERAL (
            SELECT * FROM addresses WHERE tenant_id = $1 AND address_id = k.address_id
            OFFSET 0) d
        """)

    private static let passwordList: SelectList = PasswordLoad.Columns.selected("c")
    private static let passwordColumns = PasswordLoad.Columns("c", in: passwordList)
    private static let passwords = Statement(
        "export_passwords",
        """
        SELECT \(passwordList.sql) FROM unnest($2::uuid[]) AS k (identity_id)
        CROSS JOIN LATERAL (
            SELECT * FROM credentials WHERE tenant_id = $1 AND identity_id = k.identity_id
            OFFSET 0) c
        """)

    private let session: Postgres.Session
    private let keyring: WrappingKeyring
    private let disclosures: DisclosureReader
    private let types: [ProviderName: ProviderType]

    /// Creates a reader; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read decision state and disclosures.
    ///   - keyring: Decrypts disclosures and hashes.
    ///   - types: The types of the tenant's providers.
    package init(url: String, keyring: WrappingKeyring, types: [ProviderName: ProviderType]) {
        self.keyring = keyring
        self.types = types
        disclosures = DisclosureReader(keyring: keyring)
        session = Session.forReads(url: url, named: "account export", seconds: 60)
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// Returns the next accounts, in the order of their ids; empty at the end.
    ///
    /// - Throws: `PostgresError`, or a fault of a row that can't be read.
    package func page(
        after account: AccountID?, in tenant: TenantID
    ) async throws -> [ExportedAccount] {
        try await session.run { connection in
            var page = try readAccounts(after: account, in: tenant, on: connection)
            guard !page.isEmpty else { return [] }
            let ids: [Parameter] = [
                .text(tenant.description), .uuids(page.map(\.id.bits)),
            ]
            var places: [AccountID: Int] = [:]
            for (index, account) in page.enumerated() { places[account.id] = index }
            try readIdentities(ids, into: &page, places, on: connection)
            try readNames(ids, into: &page, places, on: connection)
            try readEmails(ids, into: &page, on: connection)
            try readAddresses(of: tenant, into: &page, on: connection)
            try readPasswords(of: tenant, into: &page, on: connection)
            return page
        }
    }

    private func readAccounts(
        after account: AccountID?, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [ExportedAccount] {
        let rows = try connection.query(
            Self.accounts,
            [
                .text(tenant.description), .uuid(account?.bits ?? 0), .int8(Int64(Self.pageMax)),
            ])
        var page: [ExportedAccount] = []
        for row in 0..<rows.rowCount {
            var account = ExportedAccount(
                id: AccountID(bits: try rows.uuid(row, rows.column("account_id"))),
                isDisabled: try rows.optionalInt8(row, rows.column("disabled_position")) != nil)
            account.hasSecondFactors = try rows.bool(row, rows.column("has_factors"))
            page.append(account)
        }
        return page
    }

    private func readIdentities(
        _ ids: [Parameter], into page: inout [ExportedAccount], _ places: [AccountID: Int],
        on connection: Connection
    ) throws {
        let rows = try connection.query(Self.identities, ids)
        for row in 0..<rows.rowCount {
            let account = AccountID(bits: try rows.uuid(row, rows.column("account_id")))
            guard let place = places[account],
                let provider = ProviderName(try rows.text(row, rows.column("provider")))
            else { continue }
            page[place].identities.append(
                ExportedAccount.Identity(
                    id: IdentityID(bits: try rows.uuid(row, rows.column("identity_id"))),
                    provider: provider,
                    providerID: try rows.text(row, rows.column("provider_id"))))
        }
    }

    private func readNames(
        _ ids: [Parameter], into page: inout [ExportedAccount], _ places: [AccountID: Int],
        on connection: Connection
    ) throws(PostgresError) {
        let rows = try connection.query(Self.names, ids)
        for row in 0..<rows.rowCount {
            let account = AccountID(bits: try rows.uuid(row, rows.column("survivor")))
            guard let place = places[account],
                let source = NameSource(try rows.text(row, rows.column("source"))),
                let name = ExternalName(
                    source: source, id: try rows.text(row, rows.column("external_id")))
            else { continue }
            page[place].names.append(name)
        }
    }

    private func readEmails(
        _ ids: [Parameter], into page: inout [ExportedAccount], on connection: Connection
    ) throws(PostgresError) {
        let rows = try connection.query(
            SearchRows.emails(try ProjectionTables.served(.userProviders, on: connection)), ids)
        var emails: [IdentityID: Email] = [:]
        for row in 0..<rows.rowCount {
            emails[IdentityID(bits: try rows.uuid(row, rows.column("identity_id")))] = Email(
                try rows.text(row, rows.column("email")),
                isVerified: try rows.optionalBool(row, rows.column("email_verified")))
        }
        page.eachIdentity { $0.email = emails[$0.id] }
    }

    private func readAddresses(
        of tenant: TenantID, into page: inout [ExportedAccount], on connection: Connection
    ) throws {
        var wanted: Set<AddressID> = []
        page.eachIdentity { identity in
            guard types[identity.provider]?.addressKind != nil else { return }
            if let id = AddressID(identity.providerID) { wanted.insert(id) }
        }
        guard !wanted.isEmpty else { return }
        let rows = try connection.query(
            Self.addresses, [.text(tenant.description), .uuids(wanted.map(\.bits))])
        var held: [HeldAddress] = []
        for row in 0..<rows.rowCount {
            held.append(try Self.addressColumns.read(rows, row).address)
        }
        let texts = try disclosures.texts(of: held, in: tenant, on: connection)
        let proved = Set(held.filter { !$0.isClaimed }.map(\.id))
        page.eachIdentity { identity in
            guard let id = AddressID(identity.providerID) else { return }
            identity.address = texts[id]
            identity.isAddressVerified = proved.contains(id)
        }
    }

    private func readPasswords(
        of tenant: TenantID, into page: inout [ExportedAccount], on connection: Connection
    ) throws {
        var wanted: [IdentityID] = []
        page.eachIdentity { if types[$0.provider] == .password { wanted.append($0.id) } }
        guard !wanted.isEmpty else { return }
        let rows = try connection.query(
            Self.passwords, [.text(tenant.description), .uuids(wanted.map(\.bits))])
        var hashes: [IdentityID: String] = [:]
        for row in 0..<rows.rowCount {
            let (version, sealed, wrappingKey) = try Self.passwordColumns.read(rows, row)
            hashes[version.identity] = keyring.openPassword(
                sealed, wrappingKey: wrappingKey, of: version, in: tenant)
        }
        page.eachIdentity { $0.hash = hashes[$0.id] }
    }
}

extension [ExportedAccount] {
    fileprivate mutating func eachIdentity(_ body: (inout ExportedAccount.Identity) -> Void) {
        for account in indices {
            for identity in self[account].identities.indices {
                body(&self[account].identities[identity])
            }
        }
    }
}
