import Ledger
import LedgerEngine
import LedgerMessages
import Postgres

/// Reads the address and the event of a notice.
struct NoticeReader: Sendable {
    private static let list = AddressLoad.Columns.selected("d")
    private static let columns = AddressLoad.Columns("d", in: list)

    private static let address = Statement(
        "notice_address",
        "SELECT \(list.sql) FROM addresses d WHERE d.tenant_id = $1 AND d.address_id = $2")

    /// The result of a read.
    enum Found {
        case opened(OpenedMessage)
        /// No account has the address any more, or it was erased.
        case gone
        /// The event or the address does not decrypt.
        case unreadable
    }

    private let disclosures: DisclosureReader
    private let provider: @Sendable (TenantID, ProviderName) -> String
    private let accountPage: @Sendable (TenantID) -> String?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - keyring: Decrypts addresses.
    ///   - provider: Returns the display name of a tenant's provider.
    ///   - accountPage: Returns the link to a tenant's account page.
    init(
        keyring: WrappingKeyring, provider: @escaping @Sendable (TenantID, ProviderName) -> String,
        accountPage: @escaping @Sendable (TenantID) -> String?
    ) {
        disclosures = DisclosureReader(keyring: keyring)
        self.provider = provider
        self.accountPage = accountPage
    }

    /// Reads a notice of an event.
    ///
    /// It goes to the address that the account had then, also if that was changed since.
    func read(
        _ template: MessageTemplate, about position: LogPosition, to id: AddressID,
        disclosedAt disclosure: LogPosition?, in tenant: TenantID, on connection: Connection
    ) throws -> Found {
        let rows = try connection.query(
            Self.address, [.text(tenant.description), .uuid(id.bits)])
        guard rows.rowCount == 1 else { return .gone }
        let present = try Self.columns.read(rows, 0).address
        let address = present.disclosed(at: disclosure ?? present.position)
        let events = try disclosures.events(
            at: [position.value, address.position.value], in: tenant, on: connection)
        guard let event = try? events[position]?.disclosed.get(),
            let confirmed = try? events[address.position]?.disclosed.get()
        else { return .unreadable }
        guard let text = confirmed.text(of: address) else { return .gone }
        let recorded = event.recorded
        let content = try MessageContent.notice(
            template, at: recorded.recordedAt,
            provider: template.required.contains(.provider)
                ? recorded.event.fact.attributes.provider.map { name(of: $0, in: tenant) } : nil,
            link: accountPage(tenant))
        return .opened(OpenedMessage(recipient: text, content: content))
    }

    /// Returns the display name of a provider, or its name if a message can't contain that.
    private func name(of provider: ProviderName, in tenant: TenantID) -> String {
        let shown = self.provider(tenant, provider)
        return MessagePlaceholder.provider.accepts(shown) ? shown : provider.description
    }
}
