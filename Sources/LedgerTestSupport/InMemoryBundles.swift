package import Ledger

/// Exports bundles of an in-memory ledger: a few bytes that stand for one.
package struct InMemoryBundles: BundleExporter {
    private final class Bytes: BundleBytes {
        let size: Int64
        private let rest: Parts

        init(size: Int64, _ parts: [[UInt8]]) {
            self.size = size
            rest = Parts(parts)
        }

        func next() async -> [UInt8]? { await rest.next() }
    }

    private actor Parts {
        private var parts: [[UInt8]]

        init(_ parts: [[UInt8]]) {
            self.parts = parts
        }

        func next() -> [UInt8]? { parts.isEmpty ? nil : parts.removeFirst() }
    }

    private let ledger: InMemoryLedger
    private let proofs: any ProofReader

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger, proofs: any ProofReader) {
        self.ledger = ledger
        self.proofs = proofs
    }

    /// Begins a bundle of an account, or of the whole log, up to the last checkpoint.
    package func bundle(
        of account: AccountID?, in tenant: TenantID
    ) async throws(ExportRefusal) -> any BundleBytes {
        let (log, checkpoint): ([Recording], SignedCheckpoint?)
        do throws(LedgerFault) {
            log = try ledger.read(tenant)
            checkpoint = try await proofs.latestCheckpoint(of: tenant)
        } catch {
            throw error == .internalFailure ? .damaged : .unavailable
        }
        guard let checkpoint else { throw .nothingSigned }
        let events = log.prefix(Int(checkpoint.size)).map(\.recorded).filter { recorded in
            account.map { id in recorded.accounts.contains { $0.id == id } } ?? true
        }
        guard account == nil || !events.isEmpty else { throw .unknownAccount }
        return Bytes(
            size: checkpoint.size, [Array("bundle of ".utf8), Array("\(events.count)".utf8)])
    }
}
