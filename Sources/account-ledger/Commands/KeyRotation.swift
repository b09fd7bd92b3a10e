import CommandLine
import Cryptography
import Ledger
import LedgerEngine
import LedgerPostgres

/// Records key rotations in the log of every tenant.
struct KeyRotation {
    let url: String
    let keyring: WrappingKeyring

    /// Appends `KeyRotated` to the log of each tenant in `facts`.
    ///
    /// - Throws: `Fault` that names the first log that refuses; another run appends the rest.
    func append(_ facts: [TenantID: KeyRotated]) async throws(Fault) {
        let faults = LastFault()
        let sequencer = Sequencer(
            configuration: SequencerConfiguration(url: url), policy: { _ in nil },
            keyring: keyring, onCommit: { _ in }, onFault: { faults.note($0) })
        async let finished: Void = sequencer.run()
        var failed: TenantID?
        for (tenant, fact) in facts.sorted(by: { $0.key < $1.key }) {
            let command = Command(
                id: CommandID(at: .now, random: SecureRandom.uint128()), tenant: tenant,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: .rotateKey(RotateKey(fact)))
            do throws(LedgerFault) {
                if case .success = try await sequencer.submit(command) { continue }
                failed = failed ?? tenant
            } catch {
                failed = failed ?? tenant
                // A damaged log does not affect the others.
                guard case .internalFailure = error else { break }
            }
        }
        sequencer.close()
        await finished
        if let failed {
            throw Fault(
                "the log of tenant \(failed) does not record the rotation yet (\(faults.last ?? "unknown cause")):"
                    + " run the same command again")
        }
    }
}
