import Cryptography
import Ledger
import Synchronization
import TransparencyLog

@testable import LedgerEngine

/// The stored state of the simulated sealers: hashes, checkpoints and leases in the database, and their
/// shared record outside it.
final class MemorySeals: Sendable {
    static let leaseMicroseconds = Int64(SealerLease.seconds) * 1_000_000

    /// The state of one tenant.
    struct Partition: Sendable {
        var hashes: [TreeHash] = []
        var checkpoints: [SignedCheckpoint] = []
        var holder: Int?
        var expiresAt = Timestamp(microseconds: 0)
        // Outside the database.
        var signer: NoteSigner?
        var last: LastSigned?
    }

    /// A signature, whether or not it was seen.
    struct Signature: Sendable {
        let tenant: TenantID
        let checkpoint: Checkpoint
        /// The number of events in the log at that time.
        let events: Int
    }

    private struct State {
        var partitions: [TenantID: Partition] = [:]
        var signatures: [Signature] = []
        var refusals: [String] = []
        /// The entries of uncommitted batches, for a planted bug.
        var uncommitted: [TenantID: [[UInt8]]] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock(\.isClosed) }
    var signatures: [Signature] { state.withLock(\.signatures) }
    var refusals: [String] { state.withLock(\.refusals) }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func partition(_ tenant: TenantID) -> Partition {
        state.withLock { $0.partitions[tenant] } ?? Partition()
    }

    func change(_ tenant: TenantID, _ body: (inout Partition) -> Void) {
        state.withLock { body(&$0.partitions[tenant, default: Partition()]) }
    }

    func note(_ signature: Signature) {
        state.withLock { $0.signatures.append(signature) }
    }

    func refuse(_ tenant: TenantID, _ refusal: SealingRefusal) {
        state.withLock { $0.refusals.append("\(tenant) is not signed any more: \(refusal)") }
    }

    func uncommitted(_ tenant: TenantID) -> [[UInt8]] {
        state.withLock { $0.uncommitted[tenant] ?? [] }
    }

    func show(_ writes: [TenantWrites], isShown: Bool) {
        state.withLock { state in
            for write in writes {
                state.uncommitted[write.tenant] = isShown ? write.recordings.map(\.entry) : []
            }
        }
    }
}

/// The record of the simulated sealers: it survives every process and every restart of the database.
struct MemorySealerRecord: SealerRecord {
    let world: World

    func tenants() throws(SealerRecordFault) -> [TenantID] {
        world.tenants.filter { world.seals.partition($0).signer != nil }.sorted()
    }

    func logState(
        of tenant: TenantID, mayBegin: Bool
    ) throws(SealerRecordFault) -> SealerLogRecord {
        guard let origin = NoteKeyName("simulated/\(tenant)") else {
            throw .damaged("\(tenant) can't name a log")
        }
        if world.seals.partition(tenant).signer == nil, mayBegin,
            let key = Ed25519PrivateKey(seed: world.dice.bytes(Ed25519PrivateKey.seedByteCount))
        {
            world.seals.change(tenant) {
                $0.signer = NoteSigner(name: origin, privateKey: key)
            }
        }
        let partition = world.seals.partition(tenant)
        guard let signer = partition.signer else { throw .missing("no key of \(origin)") }
        return SealerLogRecord(
            origin: origin, signers: [signer], verifiers: [signer.verifier], last: partition.last)
    }

    func write(
        _ signed: LastSigned, after previous: Checkpoint?, of tenant: TenantID
    ) throws(SealerRecordFault) {
        let last = world.seals.partition(tenant).last?.checkpoint
        guard last == previous || last == signed.checkpoint else { throw .outdated }
        world.seals.change(tenant) { $0.last = signed }
        world.seals.note(
            MemorySeals.Signature(
                tenant: tenant, checkpoint: signed.checkpoint,
                events: world.database.logCount(of: tenant)))
    }

    func add(_ erasures: [SeenErasure], of tenant: TenantID) throws(SealerRecordFault) {}
}
