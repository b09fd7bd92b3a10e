import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres

/// Changes the MAC key that authenticates new events: for `keys rotate mac` and after a restore.
///
/// Each log records the change at its own position, with the Merkle root of all earlier entries, so that a
/// holder of the former key can't forge earlier events.
struct MACKeyRotation {
    let url: String
    let directory: KeyDirectory

    /// Creates a key, and records it in every protected log.
    ///
    /// It never uses an existing key, even if some logs do not name it yet: that may be the key of
    /// a restore, and leaked since. The caller holds the directory's lock.
    /// - Returns: the key, and the tenants whose logs now name it.
    func run(_ book: TenantOpenings) async throws -> (key: String, tenants: [TenantID]) {
        let protected = book.facts.keys.filter { !book.keys(of: .mac, in: $0).isEmpty }.sorted()
        guard !protected.isEmpty else {
            throw Fault("no log is protected yet; run \(Syntax.program) protect")
        }
        return (try await run(book, of: protected), protected)
    }

    /// Creates a key, and records it in the logs of some tenants.
    ///
    /// - Returns: the key.
    func run(_ book: TenantOpenings, of tenants: [TenantID]) async throws -> String {
        // Before the key is created, so that a damaged log leaves no unused key behind.
        let former = try macKeys()
        var prefixes: [TenantID: KeyRotated.Prefix] = [:]
        for tenant in tenants {
            prefixes[tenant] = try SchemaCheck.withConnection(to: url) {
                try LogRoot.read(of: tenant, keys: former, on: $0).prefix
            }
        }
        let now = Timestamp.now
        let key = try directory.add(.mac, from: now, now: now)
        var facts: [TenantID: KeyRotated] = [:]
        for (tenant, prefix) in prefixes {
            facts[tenant] = KeyRotated(
                macKey: key, former: book.keys(of: .mac, in: tenant).last, after: prefix)
        }
        let keyring = AdministeredCommand.keyring(try macKeys())
        try await KeyRotation(url: url, keyring: keyring).append(facts)
        return key
    }

    private func macKeys() throws(Fault) -> MACKeys {
        guard let macs = try directory.loadMACKeys() else {
            throw directory.fault("\(directory.path) holds no MAC key")
        }
        return macs
    }
}
