import CommandLine
import Ledger
import LedgerEngine

/// `keys rotate checkpoint`: adds a new signing key for each log that is sealed from a directory.
///
/// Both keys sign until the former one is retired, so that auditors can switch from one to the other.
/// Sealers read the directory before each signature and need no restart.
struct CheckpointKeyRotation {
    let url: String
    let directory: SealerDirectory
    let keys: KeyDirectory
    /// The keys that authenticate appended events.
    let macs: MACKeys

    /// Adds a key for each log and records it in the log.
    func begin() async throws -> ExitCode {
        let (book, tenants, code) = try read()
        var facts: [TenantID: KeyRotated] = [:]
        for tenant in tenants {
            let rotation = try directory.rotation(of: tenant) ?? directory.addKey(to: tenant)
            facts[tenant] = missingFact(rotation, in: book.rotations[tenant])
        }
        guard !facts.isEmpty else {
            throw Fault("every log already has two signing keys; --retire ends the former ones")
        }
        try await append(facts)
        for (tenant, fact) in facts.sorted(by: { $0.key < $1.key }) {
            Terminal.print(
                "tenant \(tenant): checkpoint key \(fact.key) now signs beside \(fact.former)\n")
        }
        return code
    }

    /// Retires the former key of each log.
    func end() async throws -> ExitCode {
        let (book, tenants, code) = try read()
        var facts: [TenantID: KeyRotated] = [:]
        var ended = 0
        for tenant in tenants {
            guard let rotation = try directory.rotation(of: tenant) else { continue }
            facts[tenant] = missingFact(rotation, in: book.rotations[tenant])
        }
        // Records that an interrupted rotation did not append.
        if !facts.isEmpty { try await append(facts) }
        for tenant in tenants {
            for former in try directory.retireFormerKeys(of: tenant) {
                ended += 1
                Terminal.print("tenant \(tenant): checkpoint key \(former) no longer signs\n")
            }
        }
        guard ended > 0 else { throw Fault("no log has two signing keys") }
        return code
    }

    /// Reads the logs, and prints which are left out.
    ///
    /// - Returns: Also the tenants that are sealed from the directory, and the exit code.
    private func read() throws -> (TenantOpenings, [TenantID], ExitCode) {
        let book = try TenantOpenings.read(url: url, macs: macs)
        let refused = book.refused(with: macs, from: keys)
        let tenants = try book.tenants.filter {
            try refused[$0.description] == nil && book.moves[$0] == nil
                && directory.hasKeys(of: $0)
        }
        return (book, tenants, LedgerCommands.reportLeftOut(refused))
    }

    /// Returns the fact that the log still lacks; nil when it has it.
    private func missingFact(
        _ rotation: SealerDirectory.Rotation, in said: [KeyRotated]?
    ) -> KeyRotated? {
        let fact = KeyRotated(kind: .checkpoint, key: rotation.key, former: rotation.former)
        return said?.contains(fact) ?? false ? nil : fact
    }

    private func append(_ facts: [TenantID: KeyRotated]) async throws(Fault) {
        try await KeyRotation(url: url, keyring: AdministeredCommand.keyring(macs)).append(facts)
    }
}
