internal import Foundation
package import Ledger
package import LedgerEngine
import LedgerExport
import Synchronization
import TransparencyLog

/// Exports bundles for clients: each is written to a temporary file and read from there, so that a slow
/// client delays no read of the log.
package final class BundleExports: BundleExporter {
    /// The maximum number of bundles at a time, in this process.
    package static let countMax = 2

    /// One of the bundles at a time, until it is released.
    private final class Slot: Sendable {
        private let exports: BundleExports

        init(_ exports: BundleExports) {
            self.exports = exports
        }

        deinit {
            exports.running.subtract(1, ordering: .relaxed)
        }
    }

    private let url: String
    private let macs: MACKeys?
    private let onFault: @Sendable (String) -> Void
    private let running = Atomic<Int>(0)

    /// Configures the exports; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read the log and sealed data.
    ///   - macs: Authenticate events.
    ///   - onFault: Called with one line, free of personal data, for each failed export.
    package init(
        url: String, macs: MACKeys?, onFault: @escaping @Sendable (String) -> Void
    ) {
        self.url = url
        self.macs = macs
        self.onFault = onFault
    }

    /// Begins a bundle of an account, or of the whole log, up to the last checkpoint.
    package func bundle(
        of account: AccountID?, in tenant: TenantID
    ) async throws(ExportRefusal) -> any BundleBytes {
        guard running.add(1, ordering: .relaxed).newValue <= Self.countMax else {
            running.subtract(1, ordering: .relaxed)
            throw .overloaded
        }
        let slot = Slot(self)
        let exporter = Exporter(url: url, keyring: nil, macs: macs)
        let begun: (spool: BundleSpool, bundle: SpooledBundle)
        do {
            begun = try await begin(account, tenant, exporter, slot)
        } catch {
            await exporter.close()
            throw refusal(error)
        }
        do {
            try await begun.spool.begun()
        } catch {
            throw ExportRefusal(error)
        }
        return begun.bundle
    }

    /// Starts the task that writes a bundle.
    private func begin(
        _ account: AccountID?, _ tenant: TenantID, _ exporter: Exporter, _ slot: Slot
    ) async throws -> (spool: BundleSpool, bundle: SpooledBundle) {
        let basis = try await exporter.basis(of: tenant, since: nil)
        let head = BundleHead(
            tenant: tenant, scope: account.map { .account($0) } ?? .all,
            checkpoint: basis.checkpoint, isDisclosed: false)
        let (spool, file) = try Self.file(head, basis)
        let bundle = SpooledBundle(spool, file, size: basis.checkpoint.size)
        Task {
            // The slot is taken until the log has been read and the client has the bundle.
            defer { withExtendedLifetime(slot) {} }
            do {
                if let account {
                    _ = try await exporter.account(account, in: tenant, basis: basis) {
                        try spool.add($0)
                    }
                } else {
                    _ = try await exporter.all(in: tenant, basis: basis) { try spool.add($0) }
                }
                try spool.finish()
            } catch {
                spool.fail(with: error)
                if !spool.isCancelled { _ = refusal(error) }
            }
            await exporter.close()
            await spool.waitForClient()
        }
        return (spool, bundle)
    }

    /// Returns the refusal for an error, which is reported unless the client can have caused it.
    private func refusal(_ error: any Error) -> ExportRefusal {
        let refusal = ExportRefusal(error)
        if [.damaged, .unavailable].contains(refusal) { onFault("an export failed: \(error)") }
        return refusal
    }

    /// Creates a temporary file that has no name any more once it is open, and begins the bundle in it.
    private static func file(
        _ head: BundleHead, _ basis: ExportBasis
    ) throws -> (spool: BundleSpool, file: FileHandle) {
        let files = FileManager.default
        let path = files.temporaryDirectory.appendingPathComponent(
            "account-ledger-export-\(UUID().uuidString).tar"
        ).path
        let isMade = files.createFile(
            atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isMade else { throw ExportRefusal.unavailable }
        defer { try? files.removeItem(atPath: path) }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ExportRefusal.unavailable
        }
        let spool = try BundleSpool(path: path, head, basis)
        return (spool, file)
    }
}

extension ExportRefusal {
    fileprivate init(_ error: any Error) {
        switch error {
        case let refusal as ExportRefusal: self = refusal
        case ExportFailure.nothingSigned: self = .nothingSigned
        case ExportFailure.unknownAccount: self = .unknownAccount
        case ExportFailure.damaged, ExportFailure.noCheckpoint: self = .damaged
        case is LogDamage: self = .damaged
        default: self = .unavailable
        }
    }
}

/// A bundle that one task writes and another reads.
private final class BundleSpool: Sendable {
    private struct State {
        /// Counts the changes.
        var version = 0
        var parts = 0
        var isEnded = false
        var isCancelled = false
        var failure: (any Error)?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let writer: Mutex<BundleWriter>
    private let state = Mutex(State())

    init(path: String, _ head: BundleHead, _ basis: ExportBasis) throws {
        writer = Mutex(
            try BundleWriter(
                path: path, head: head, note: basis.note, keys: basis.keys, older: basis.older))
    }

    var isCancelled: Bool { state.withLock(\.isCancelled) }
    /// The number of changes, whether none follows, and the failure that ended them.
    var progress: (version: Int, isEnded: Bool, failure: (any Error)?) {
        state.withLock { ($0.version, $0.isEnded, $0.failure) }
    }

    /// Writes a part; throws when the reader has been released.
    func add(_ part: ExportedPart) throws {
        guard !isCancelled else { throw CancellationError() }
        try writer.withLock { try $0.add(part) }
        change { $0.parts += 1 }
    }

    func finish() throws {
        try writer.withLock { try $0.finish() }
        change { $0.isEnded = true }
    }

    func fail(with error: any Error) {
        change { state in
            state.isEnded = true
            state.failure = error
        }
    }

    func cancel() {
        change { $0.isCancelled = true }
    }

    /// Waits until the first part is written, and throws a failure before it.
    func begun() async throws {
        while true {
            let (version, parts, isEnded, failure) = state.withLock {
                ($0.version, $0.parts, $0.isEnded, $0.failure)
            }
            if let failure, parts == 0 { throw failure }
            if parts > 0 || isEnded { return }
            await changed(since: version)
        }
    }

    /// Waits until the reader has been released.
    func waitForClient() async {
        while true {
            let (version, isCancelled) = state.withLock { ($0.version, $0.isCancelled) }
            if isCancelled { return }
            await changed(since: version)
        }
    }

    /// Waits until there was a further change.
    func changed(since version: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.version == version else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            state.version += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// The reader of a spooled bundle.
private final class SpooledBundle: BundleBytes {
    /// The maximum number of bytes that are read at once.
    private static let chunkBytes = 65_536

    let size: Int64
    private let spool: BundleSpool
    private let file: FileHandle

    init(_ spool: BundleSpool, _ file: FileHandle, size: Int64) {
        self.spool = spool
        self.file = file
        self.size = size
    }

    deinit {
        spool.cancel()
    }

    func next() async throws(ExportRefusal) -> [UInt8]? {
        while true {
            let (version, isEnded, failure) = spool.progress
            let data: Data?
            do { data = try file.read(upToCount: Self.chunkBytes) } catch { throw .unavailable }
            if let data, !data.isEmpty { return Array(data) }
            if let failure { throw ExportRefusal(failure) }
            guard !isEnded else { return nil }
            await spool.changed(since: version)
        }
    }
}
