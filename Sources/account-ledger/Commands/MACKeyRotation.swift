import Ledger
import LedgerPostgres

/// Changes the MAC key that authenticates new events: for `keys rotate mac` and after a restore.
///
/// Each log records the change at its own position, with the Merkle root of all earlier entries, so that a
/// holder of the former key can't forge earlier events.
struct MACKeyRotation {
    let url: String
    let directory: KeyDirectory

    /// Creates a key, unless one exists that some log does not name yet, and records it in every protected log.
    ///
    /// The caller holds the directory's lock.
    /// - Returns: the key, and the tenants whose logs now name it.
    func run(_ book: OpenedTenants) async throws -> (key: String, tenants: [TenantID]) {
        let protected = book.facts.keys.filter { !book.keys(of: .mac, in: $0).isEmpty }.sorted()
        guard !protected.isEmpty else {
            throw Fault("no log is protected yet; run \(Syntax.program) protect")
        }
        let now = Timestamp.now
        let last = try directory.choice(at: now).lastID(of: .mac) ?? ""
        let behind = protected.filter { book.keys(of: .mac, in: $0).last != last }
        let key = behind.isEmpty ? try directory.add(.mac, from: now, now: now) : last
        let tenants = behind.isEmpty ? protected : behind
        try await append(key, to: tenants, book)
        return (key, tenants)
    }

    /// Records a key in the logs of some tenants.
    func append(_ key: String, to tenants: [TenantID], _ book: OpenedTenants) async throws {
        guard let macs = try directory.loadMACKeys() else {
            throw directory.fault("\(directory.path) holds no MAC key")
        }
        var facts: [TenantID: KeyRotated] = [:]
        for tenant in tenants {
            let prefix = try SchemaCheck.withConnection(to: url) {
                try LogRoot.read(of: tenant, keys: macs, on: $0).prefix
            }
            facts[tenant] = KeyRotated(
                macKey: key, former: book.keys(of: .mac, in: tenant).last, after: prefix)
        }
        try await KeyRotation(url: url, keyring: AdministeredCommand.keyring(macs)).append(facts)
    }
}
