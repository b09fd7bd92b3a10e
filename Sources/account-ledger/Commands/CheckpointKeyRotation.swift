import Ledger
import LedgerPostgres

/// `keys rotate checkpoint`: has another key sign each log that is sealed from a directory.
///
/// Both keys sign until the former one is retired, so that who trusts one of them can come to trust the
/// other. Sealers read the directory before each signature and need no restart.
struct CheckpointKeyRotation {
    let url: String
    let directory: SealerDirectory
    /// Authenticates what is appended.
    let macs: MACKeys

    /// Adds a key to each log, and writes into the log that it did.
    func begin() async throws -> ExitCode {
        let book = try OpenedTenants.read(url: url)
        var facts: [TenantID: KeyRotated] = [:]
        for tenant in try tenants(book) {
            let rotation = try directory.rotation(of: tenant) ?? directory.addKey(to: tenant)
            facts[tenant] = unsaid(rotation, in: book.rotations[tenant])
        }
        guard !facts.isEmpty else {
            throw Fault("both keys of every log sign already: --retire ends the former ones")
        }
        try await append(facts)
        for (tenant, fact) in facts.sorted(by: { $0.key < $1.key }) {
            Terminal.print(
                "tenant \(tenant): checkpoint key \(fact.key) signs beside \(fact.former) now\n")
        }
        return .success
    }

    /// Has the newer key of each log sign alone.
    func end() async throws -> ExitCode {
        let book = try OpenedTenants.read(url: url)
        var facts: [TenantID: KeyRotated] = [:]
        var ended = 0
        for tenant in try tenants(book) {
            guard let rotation = try directory.rotation(of: tenant) else { continue }
            facts[tenant] = unsaid(rotation, in: book.rotations[tenant])
        }
        // What a rotation that was broken off has left unsaid.
        if !facts.isEmpty { try await append(facts) }
        for tenant in try tenants(book) {
            for former in try directory.retireFormerKeys(of: tenant) {
                ended += 1
                Terminal.print("tenant \(tenant): checkpoint key \(former) signs no more\n")
            }
        }
        guard ended > 0 else { throw Fault("no log has two keys that sign") }
        return .success
    }

    /// The tenants that are sealed from the directory.
    private func tenants(_ book: OpenedTenants) throws -> [TenantID] {
        try book.facts.keys.sorted().filter { try directory.hasKeys(of: $0) }
    }

    /// What the log has to say; nil when it does.
    private func unsaid(
        _ rotation: SealerDirectory.Rotation, in said: [KeyRotated]?
    ) -> KeyRotated? {
        let fact = KeyRotated(kind: .checkpoint, key: rotation.key, former: rotation.former)
        return said?.contains(fact) ?? false ? nil : fact
    }

    private func append(_ facts: [TenantID: KeyRotated]) async throws(Fault) {
        try await KeyRotation(url: url, keyring: AdministeredCommand.keyring(macs)).append(facts)
    }
}
