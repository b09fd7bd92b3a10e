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

    /// Creates a key, and records it in every protected log that is sound.
    ///
    /// It never uses an existing key, even if some logs do not name it yet: that may be the key of
    /// a restore, and leaked since. The caller holds the directory's lock.
    /// - Returns: the key, the tenants whose logs now name it, and the damage of other logs by tenant.
    func run() async throws -> (key: String, tenants: [TenantID], damage: [String: String]) {
        let former = try macKeys()
        let book = try TenantOpenings.read(url: url, macs: former)
        var damage = book.damage
        var prefixes: [TenantID: KeyRotated.Prefix] = [:]
        for tenant in book.soundTenants where !book.keys(of: .mac, in: tenant).isEmpty {
            switch try prefix(of: tenant, former) {
            case .success(let prefix): prefixes[tenant] = prefix
            case .failure(let fault): damage[tenant.description] = "\(fault)"
            }
        }
        guard !prefixes.isEmpty else {
            throw Fault(
                damage.isEmpty
                    ? "no log is protected yet; run \(Syntax.program) protect"
                    : "no log is sound: run \(Syntax.program) verify")
        }
        return (try await append(prefixes, book), prefixes.keys.sorted(), damage)
    }

    /// Creates a key, and records it in the log of a tenant.
    ///
    /// - Returns: the key.
    func run(_ book: TenantOpenings, of tenant: TenantID) async throws -> String {
        // Before the key is created, so that a damaged log leaves no unused key behind.
        let prefix = try prefix(of: tenant, try macKeys()).get()
        return try await append([tenant: prefix], book)
    }

    private func prefix(
        of tenant: TenantID, _ keys: MACKeys
    ) throws -> Result<KeyRotated.Prefix, LogDamage> {
        try SchemaCheck.withConnection(to: url) { connection in
            do {
                return .success(try LogRoot.read(of: tenant, keys: keys, on: connection).prefix)
            } catch let damage as LogDamage {
                return .failure(damage)
            }
        }
    }

    private func append(
        _ prefixes: [TenantID: KeyRotated.Prefix], _ book: TenantOpenings
    ) async throws -> String {
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
