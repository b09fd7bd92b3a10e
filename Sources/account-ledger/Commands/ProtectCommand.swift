import Foundation
import Ledger
import LedgerPostgres

/// `protect`: has a log that a former release began state that its events have codes.
enum ProtectCommand {
    static let syntax = Syntax(
        words: ["protect"],
        summary: "authenticate what a former release has written, and say so in the log",
        options: [LedgerReading.tenantOption],
        settings: [.databaseURL, .migrateURL, .keys, .sealerState, .origin, .mode],
        details: """
            To be run once after an upgrade from a release without MAC keys, while the servers of this one go
            on; and after 'keys rotate mac'. Each tenant is verified as a whole first, and nothing is done where
            it does not hold. Then the rows of decision state get codes by the MAC key in use, with the login of
            LEDGER_MIGRATE_URL, and the log states with KeyRotated from which position on every event has one,
            and the Merkle root of what stands before. From then on servers refuse what nobody with the key has
            written. Broken off, the same command goes on.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.databaseURL
        let directory = KeyDirectory(path: try environment.required(.keys))
        // Nobody rotates meanwhile.
        let lock = try directory.lock()
        defer { try? lock.close() }
        let only = try LedgerReading.tenant(arguments, url: url)
        guard let keys = try directory.load(), !keys.wrapping.macs.isEmpty else {
            throw directory.fault(
                "\(directory.path) holds no MAC key: \(Syntax.program) serve makes the first one")
        }
        let tenants =
            if let only { [only] } else { try OpenedTenants.read(url: url).facts.keys.sorted() }
        let trust = try VerifyTrust.read(
            arguments, environment, keys: [], tenants: tenants, isOfAll: only == nil)
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
                Terminal.complain("tenant \(tenant): \(fault)")
            }
        }
        await protection.close()
        await verifier.close()
        return isWhole ? .success : .fault
    }

    /// Protects a tenant and says what was done.
    private static func protect(
        _ tenant: TenantID, _ protection: RowProtection, _ verifier: Verifier,
        _ rotation: KeyRotation
    ) async throws -> String {
        do {
            let outcome = try await protection.run(tenant, verifier)
            guard let standing = outcome.standing else {
                throw Fault(
                    "it does not hold, and nothing was done:\n"
                        + outcome.report.findings.map { "  \($0)\n" }.joined())
            }
            try refuse(outcome.lacking, "has no code by MAC key \(standing.key)")
            let done = "\(outcome.rowCount) rows got a code by MAC key \(standing.key)"
            guard let prefix = standing.prefix else {
                let from = standing.protectedFrom.map { "\($0)" } ?? "?"
                return "\(done); its log is protected from position \(from) on"
            }
            try await rotation.append(
                [tenant: KeyRotated(macKey: standing.key.description, former: nil, after: prefix)])
            try await protection.checkEvents(of: tenant, from: prefix.size)
            try refuse(
                try await protection.lacking(standing.key, of: tenant),
                "has no code, and is refused now that the log is protected")
            return "\(done); its log is protected from position \(prefix.size) on now"
        } catch let damage as LogDamage {
            throw Fault("\(damage)")
        }
    }

    private static func refuse(_ rows: [String], _ what: String) throws(Fault) {
        guard !rows.isEmpty else { return }
        throw Fault(
            "no server has written these rows since they were verified:\n"
                + rows.map { "  \($0) \(what)\n" }.joined())
    }
}
