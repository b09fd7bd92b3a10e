import CommandLine
import Foundation
import Ledger
import LedgerAudit
import LedgerEngine

/// `protect`: adds MACs to a log that a former release began, and records its protection in the log.
enum ProtectCommand {
    static let syntax = Syntax(
        words: ["protect"],
        summary: "authenticate the data of a former release and record it in the log",
        options: [LedgerCommands.tenantOption],
        settings: [.databaseURL, .migrateURL, .keys, .sealerState, .origin, .mode],
        details: """
            Run once after an upgrade from a release without MAC keys, while the servers of the new release
            run, and after 'keys rotate mac'. Each tenant is verified completely first; if that finds a
            problem, nothing is changed. Then the rows of decision state get MACs with the current MAC key,
            with the login of LEDGER_MIGRATE_URL, and KeyRotated in the log states the position from which
            every event has a MAC and the Merkle root of all earlier entries. From then on servers refuse data
            without a valid MAC. Once the log of every tenant is protected, the file 'unprotected-logs' is
            removed from LEDGER_KEYS, and servers accept no log without protection any more, whatever the
            database says. An interrupted run continues when the command is repeated.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.databaseURL
        let directory = KeyDirectory(path: try environment.required(.keys))
        // Excludes rotations meanwhile.
        let lock = try directory.lock()
        defer { try? lock.close() }
        let only = try LedgerCommands.servedTenant(arguments, url: url)
        guard let keys = try directory.load(), !keys.wrapping.macs.isEmpty else {
            throw directory.fault(
                "\(directory.path) holds no MAC key: \(Syntax.program) serve creates the first one")
        }
        let opened = try TenantOpenings.read(url: url)
        let tenants = only.map { [$0] } ?? opened.continuedTenants
        let trust = try VerifyTrust.read(
            arguments, environment, keys: [], tenants: tenants, isOfAll: only == nil,
            moves: opened.moves)
        let verifier = Verifier(
            url: url, keyring: keys.wrapping, searchKey: keys.searching.search, trust: trust)
        let protection = RowProtection(
            ownerURL: try environment.migrateURL, keys: keys.wrapping.macs)
        var isWhole = true
        for tenant in tenants {
            do {
                let text = try await protect(
                    tenant, protection, verifier, KeyRotation(url: url, keyring: keys.wrapping))
                Terminal.print("tenant \(tenant): \(text)\n")
            } catch let fault as Fault {
                isWhole = false
                Terminal.printError("tenant \(tenant): \(fault)")
            }
        }
        await protection.close()
        await verifier.close()
        if isWhole, only == nil, try directory.endUnprotectedLogs() {
            Terminal.print(
                "every log is protected: \(directory.path(of: .unprotectedLogs)) is removed\n")
        }
        return isWhole ? .success : .fault
    }

    /// Protects a tenant and returns a line about the result.
    private static func protect(
        _ tenant: TenantID, _ protection: RowProtection, _ verifier: Verifier,
        _ rotation: KeyRotation
    ) async throws -> String {
        do {
            let outcome = try await protection.run(tenant, verifier)
            guard let verifiedState = outcome.verifiedState else {
                throw Fault(
                    "verification failed, and nothing was changed:\n"
                        + outcome.report.findings.map { "  \($0)\n" }.joined())
            }
            try refuse(outcome.lacking, "has no MAC by key \(verifiedState.key)")
            let done = "\(outcome.rowCount) rows got a MAC by key \(verifiedState.key)"
            guard let prefix = verifiedState.prefix else {
                let from = verifiedState.protectedFrom.map { "\($0)" } ?? "?"
                return "\(done); its log is already protected from position \(from) on"
            }
            try await rotation.append(
                [
                    tenant: KeyRotated(
                        macKey: verifiedState.key.description, former: nil, after: prefix)
                ])
            try await protection.checkEvents(of: tenant, from: prefix.size)
            try refuse(
                try await protection.lacking(verifiedState.key, of: tenant),
                "has no MAC, and servers refuse it in a protected log")
            return "\(done); its log is now protected from position \(prefix.size) on"
        } catch let damage as LogDamage {
            throw Fault("\(damage)")
        }
    }

    private static func refuse(_ rows: [String], _ what: String) throws(Fault) {
        guard !rows.isEmpty else { return }
        throw Fault(
            "these rows were not written by a server after their verification:\n"
                + rows.map { "  \($0) \(what)\n" }.joined())
    }
}
