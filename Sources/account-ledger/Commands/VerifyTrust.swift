import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import TransparencyLog

/// The trusted data from outside the database that `verify` compares the logs with.
enum VerifyTrust {
    /// Reads the keys, the checkpoint and the sealer's records, as far as they are given.
    ///
    /// Called before the database is read, which must then contain everything signed so far; the logs of tenants that
    /// were moved, which go on elsewhere with the same record, need not.
    static func read(
        _ arguments: Arguments, _ environment: Environment, keys: [NoteVerifier],
        tenants: [TenantID], isOfAll: Bool, moves: [TenantID: TenantMove] = [:]
    ) throws -> SealTrust {
        var trust = SealTrust()
        trust.verifiers = keys
        if let directory = try SealingSetup.directory(environment, mode: try environment.mode) {
            do {
                // Only the directory knows of a log that is missing as a whole.
                let signed = isOfAll ? try directory.signedTenants() : []
                for tenant in Set(tenants + signed)
                where moves[tenant].map({ $0.state == .leaving }) ?? true {
                    guard let last = try directory.lastSigned(of: tenant) else { continue }
                    trust.records[tenant] = last.checkpoint
                    // The sealer reports a missing key.
                    trust.recordKeys[tenant] =
                        (try? directory.logState(of: tenant, mayBegin: false))?.verifiers
                }
            } catch {
                throw Fault("\(Setting.sealerState.name): \(error)")
            }
        }
        guard let path = arguments["checkpoint"] else { return trust }
        let checkpoint = try checkpoint(at: path, keys: keys)
        let named = named(by: checkpoint.origin, among: tenants, base: environment.given(.origin))
        guard let tenant = named.first, named.count == 1 else {
            let origin = Arguments.quoted(checkpoint.origin.description)
            throw arguments.usageError(
                named.isEmpty
                    ? "\(path) is of the log \(origin), which is not among the logs to verify"
                    : "\(path) is of the log \(origin): name its tenant with --tenant")
        }
        trust.anchors[tenant] = [checkpoint]
        return trust
    }

    private static func checkpoint(
        at path: String, keys: [NoteVerifier]
    ) throws(Fault) -> Checkpoint {
        guard let data = FileManager.default.contents(atPath: path),
            let note = try? SignedNote(parsing: Array(data)),
            let checkpoint = Checkpoint(text: note.text)
        else { throw Fault("\(path) is not a signed checkpoint") }
        if !keys.isEmpty, (try? Checkpoint.open(note, keys)) == nil {
            throw Fault("\(path) is not signed by a key of --vkey")
        }
        return checkpoint
    }

    /// Returns the tenants whose log an origin may name: `BASE/TENANT`, and after a restore `BASE/TENANT/N`.
    ///
    /// Without a base, a number at the end may also be a tenant's name.
    static func named(
        by origin: NoteKeyName, among tenants: [TenantID], base: String?
    ) -> [TenantID] {
        tenants.filter { tenant in
            let parts = origin.description.split(separator: "/", omittingEmptySubsequences: false)
            let name = Substring(tenant.description)
            let isNumbered = (parts.last.flatMap { Int64(plainNumber: $0) } ?? 0) > 1
            let starts = [
                parts.last == name ? parts.dropLast() : nil,
                isNumbered && parts.dropLast().last == name ? parts.dropLast(2) : nil,
            ].compactMap(\.self)
            return starts.contains { start in
                guard !start.isEmpty else { return false }
                return base.map { start.joined(separator: "/").utf8.elementsEqual($0.utf8) } ?? true
            }
        }
    }
}

extension Int64 {
    /// Reads digits without a sign and without a leading zero; nil for any other text.
    fileprivate init?(plainNumber text: Substring) {
        guard let number = Int64(text), String(number).utf8.elementsEqual(text.utf8) else {
            return nil
        }
        self = number
    }
}
