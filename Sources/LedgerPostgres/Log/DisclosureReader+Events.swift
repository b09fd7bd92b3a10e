package import Ledger
import LedgerEngine
package import Postgres

extension DisclosureReader {
    private static let entries = Statement(
        "entries_at",
        "SELECT position, entry FROM events WHERE tenant_id = $1 AND position = ANY ($2::bigint[])")

    /// An event at a requested position.
    struct FoundEvent {
        /// The first account that it names; nil if it names none or does not decode.
        let account: AccountID?
        /// The event with its remaining disclosures.
        let disclosed: Result<DisclosedEvent, LogDamage>
    }

    /// Reads the events at some positions, each with its remaining disclosures.
    func events(
        at positions: [Int64], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [LogPosition: FoundEvent] {
        let results = try connection.pipeline([
            Call(Self.entries, [.text(tenant.description), .int8s(positions)]),
            Self.call(at: positions, in: tenant),
        ])
        guard results.count == 2 else { throw .unexpectedResult("no events") }
        let rows = try Self.rows(results[1])
        var keys = KeyCache()
        var found: [LogPosition: FoundEvent] = [:]
        for row in 0..<results[0].rowCount {
            let position = LogPosition(try results[0].int8(row, results[0].column("position")))
            let entry = try results[0].bytes(row, results[0].column("entry"))
            let own = rows.filter { $0.position == position }
            var account: AccountID?
            do throws(LogDamage) {
                let recorded = try StoredEvent(entry: entry, at: position, in: tenant).recorded
                account = recorded.accounts.first?.id
                let disclosed = try open(own[...], of: recorded, keys: &keys)
                found[position] = FoundEvent(
                    account: account,
                    disclosed: .success(DisclosedEvent(recorded: recorded, disclosed: disclosed)))
            } catch {
                found[position] = FoundEvent(account: account, disclosed: .failure(error))
            }
        }
        return found
    }

    /// Reads the canonical forms of addresses, which only the events that claimed, confirmed or changed them have.
    ///
    /// An address is absent if its event is of another address, or does not disclose it any more.
    package func texts(
        of addresses: [HeldAddress], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [AddressID: String] {
        let events = try events(
            at: addresses.map(\.position.value), in: tenant, on: connection)
        var texts: [AddressID: String] = [:]
        for address in addresses {
            let event = try? events[address.position]?.disclosed.get()
            texts[address.id] = event?.text(of: address)
        }
        return texts
    }
}

extension DisclosedEvent {
    /// Returns the canonical form of an address if this event discloses it.
    func text(of address: HeldAddress) -> String? {
        let (account, id): (AccountID, AddressID)
        switch recorded.event {
        case .addressClaimed(let fact): (account, id) = (fact.account, fact.address)
        case .addressConfirmed(let fact): (account, id) = (fact.account, fact.address)
        case .addressChanged(let fact): (account, id) = (fact.account, fact.address)
        default: return nil
        }
        guard account == address.account, id == address.formerOf ?? address.id else { return nil }
        return disclosed[address.kind.disclosure]
    }
}
