import Foundation
import Ledger
import LedgerExport
import LedgerTestSupport
import Synchronization
import Testing

@testable import LedgerAudit
@testable import LedgerEngine

/// Bundles for clients, compared with those of the command line.
@Suite struct BundleExportTests {
    /// Runs a body with a log whose first nine events are signed, and exports of it.
    private func with(
        _ body: (SealingFixture, SequencerFixture, BundleExports) async throws -> Void
    ) async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<3)
            try await fixture.sealOnce()
            try await story.people(3..<4)
            try await fixture.database.fold()
            let exports = BundleExports(
                url: fixture.database.runtimeURL, macs: SequencerFixture.keyring.macs
            ) { _ in }
            try await body(fixture, ledger, exports)
        }
    }

    private func bytes(of bundle: any BundleBytes) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let next = try await bundle.next() { bytes += next }
        return bytes
    }

    /// Writes a bundle as the command line does.
    private func written(
        _ fixture: SealingFixture, _ account: AccountID?
    ) async throws -> [UInt8] {
        let path = NSTemporaryDirectory() + "bundle-\(UUID().uuidString).tar"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let exporter = Exporter(url: fixture.database.runtimeURL, keyring: nil)
        let basis = try await exporter.basis(of: .default, since: nil)
        let head = BundleHead(
            tenant: .default, scope: account.map { .account($0) } ?? .all,
            checkpoint: basis.checkpoint, isDisclosed: false)
        let writer = try BundleWriter(
            path: path, head: head, note: basis.note, keys: basis.keys, older: basis.older)
        let parts = Flagged<[ExportedPart]>([])
        if let account {
            _ = try await exporter.account(account, in: .default, basis: basis) { part in
                parts.change { $0.append(part) }
            }
        } else {
            _ = try await exporter.all(in: .default, basis: basis) { part in
                parts.change { $0.append(part) }
            }
        }
        for part in parts.value { try writer.add(part) }
        try writer.finish()
        await exporter.close()
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test func `a bundle is that of the command line`() async throws {
        try await with { fixture, ledger, exports in
            let account = try #require(try await ledger.log()[1].recorded.accounts.first).id
            for scope in [nil, account] {
                let bundle = try await exports.bundle(of: scope, in: .default)
                #expect(bundle.size == 10)
                let streamed = try await bytes(of: bundle)
                #expect(streamed == (try await written(fixture, scope)))
                #expect(try await bundle.next() == nil)
            }
        }
    }

    @Test func `an unknown account and an unsigned log have no bundle`() async throws {
        try await with { _, ledger, exports in
            await #expect(throws: ExportRefusal.unknownAccount) {
                try await exports.bundle(of: AccountID(bits: 7), in: .default)
            }
            let last = try #require(try await ledger.log().last?.recorded.accounts.first).id
            await #expect(throws: ExportRefusal.unknownAccount) {
                try await exports.bundle(of: last, in: .default)
            }
            await #expect(throws: ExportRefusal.nothingSigned) {
                try await exports.bundle(of: nil, in: tenant("acme"))
            }
        }
    }

    @Test func `the number of bundles at a time is limited, until one is released`()
        async throws
    {
        try await with { _, _, exports in
            var bundles: [any BundleBytes] = []
            for _ in 0..<BundleExports.countMax {
                bundles.append(try await exports.bundle(of: nil, in: .default))
            }
            await #expect(throws: ExportRefusal.overloaded) {
                try await exports.bundle(of: nil, in: .default)
            }
            bundles.removeFirst()
            let next = try await eventually("a bundle is released") {
                try? await exports.bundle(of: nil, in: .default)
            }
            #expect(try await bytes(of: next).isEmpty == false)
        }
    }

    @Test func `a changed log has no bundle`() async throws {
        try await with { fixture, _, exports in
            try await fixture.tamper(
                """
                DELETE FROM events WHERE position = 5
                """)
            await #expect(throws: ExportRefusal.damaged) {
                try await exports.bundle(of: nil, in: .default)
            }
        }
    }
}

/// A value that several tasks change.
private final class Flagged<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    var value: Value { state.withLock(\.self) }

    func change(_ body: (inout Value) -> Void) {
        state.withLock { body(&$0) }
    }
}
