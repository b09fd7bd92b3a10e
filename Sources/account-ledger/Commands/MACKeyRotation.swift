import Ledger
import LedgerPostgres

/// Has another MAC key authenticate what is appended to logs: `keys rotate mac`, and after a restore.
///
/// Each log says so at its own position, together with the Merkle root of what stands before: so nothing can
/// be put under the former key any more, also by somebody who has it.
struct MACKeyRotation {
    let url: String
    let directory: KeyDirectory

    /// Makes a key, unless one was made that some log does not name yet, and has every protected log name it.
    ///
    /// Whoever has the directory's lock calls it.
    /// - Returns: the key, and the tenants whose logs name it from now on.
    func run(_ book: OpenedTenants) async throws -> (key: String, tenants: [TenantID]) {
        let protected = book.facts.keys.filter { !book.keys(of: .mac, in: $0).isEmpty }.sorted()
        guard !protected.isEmpty else {
            throw Fault("no log is protected yet: run \(Syntax.program) protect")
        }
        let now = Timestamp.now
        let last = try directory.choice(at: now).lastID(of: .mac) ?? ""
        let behind = protected.filter { book.keys(of: .mac, in: $0).last != last }
        let key = behind.isEmpty ? try directory.add(.mac, from: now, now: now) : last
        let tenants = behind.isEmpty ? protected : behind
        try await append(key, to: tenants, book)
        return (key, tenants)
    }

    /// Has the logs of some tenants name a key.
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
