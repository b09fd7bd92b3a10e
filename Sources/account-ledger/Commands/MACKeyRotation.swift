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

    /// Creates a key, and records it in every protected log that is sound; only in those of some tenants,
    /// if they are given.
    ///
    /// It never uses an existing key, even if some logs do not name it yet: that may be the key of
    /// a restore, and leaked since. The caller holds the directory's lock. Prints the tenants whose logs
    /// now name it, and those left out.
    /// - Returns: the faults of those left out, by the tenant's name.
    func run(of only: Set<TenantID>? = nil) async throws -> [String: String] {
        let former = try macKeys()
        let book = try TenantOpenings.read(url: url, macs: former)
        let names = only.map { Set($0.map(\.description)) }
        var damage = book.damage.filter { names?.contains($0.key) ?? true }
        var prefixes: [TenantID: KeyRotated.Prefix] = [:]
        for tenant in book.servedTenants
        where only?.contains(tenant) ?? true && !book.keys(of: .mac, in: tenant).isEmpty {
            switch try prefix(of: tenant, former) {
            case .success(let prefix): prefixes[tenant] = prefix
            case .failure(let fault): damage[tenant.description] = "\(fault)"
            }
        }
        LedgerCommands.reportLeftOut(damage)
        guard !prefixes.isEmpty else {
            guard only == nil else { return damage }
            throw Fault(
                damage.isEmpty
                    ? "no log is protected yet; run \(Syntax.program) protect"
                    : "no log is sound: run \(Syntax.program) verify")
        }
        let key = try await append(prefixes, book)
        Terminal.print(
            prefixes.keys.sorted().map {
                "tenant \($0): MAC key \(key) now authenticates new events\n"
            }.joined())
        return damage
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
