import CommandLine
import Cryptography
import Encodings
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import Postgres

/// `tenant copy`: copies a tenant into another database, and moves it there.
enum TenantCopyCommand {
    /// The number of missing events from which the tenant is stopped, and the most passes before.
    private static let restMax: Int64 = 2_000
    private static let passesMax = 20
    private static let deadline = Duration.seconds(3600)

    static let syntax = Syntax(
        words: ["tenant", "copy"],
        summary: "copy a tenant into another database, and move it there",
        operands: [.init(placeholder: "NAME", meaning: "the tenant")],
        options: [
            .init(
                name: "to", placeholder: "URL",
                meaning: "the other database, with the login that owns its tables; required"),
            .init(
                name: "abandon",
                meaning: "serve the tenant here again, if it was never served there"),
            .init(
                name: "unreachable",
                meaning: "with --abandon: the other database is gone, and never served the tenant"),
            .init(
                name: "restored",
                meaning:
                    "only mark the tenant as moved, after a restore of this database from before that"
            ),
        ],
        settings: [.databaseURL, .migrateURL, .keys, .mode],
        details: """
            Both databases are Postgres alone or Citus, with the schema of this binary. The log is copied while
            the tenant is served, after it was verified. Then the tenant stops: servers answer 503 TENANT_MOVED to its requests, and
            nothing seals it or delivers its events. The rest is copied, all rows and the roots are compared, the
            copy is verified, and the tenant is marked as moved here before the other database may serve it. An
            interrupted run continues when the command is repeated; a tenant that was stopped stays so until
            then, or until --abandon. After a restore of this database from before the end of the move, --restored
            marks the tenant as moved again. The rows here stay until 'tenant discard'. Requires LEDGER_KEYS with the
            keys of the tenant, which the servers of the other database need, too.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let tenant = arguments.operands.first.flatMap(TenantID.init) else {
            throw arguments.usageError("NAME must be the name of a tenant")
        }
        guard let destination = arguments["to"] else {
            throw arguments.usageError("missing option --to")
        }
        guard !arguments.has("unreachable") || arguments.has("abandon") else {
            throw arguments.usageError("--unreachable requires --abandon")
        }
        let owner = try environment.migrateURL
        let book = try TenantOpenings.read(
            url: try environment.databaseURL,
            macs: try KeyDirectory(path: try environment.required(.keys)).loadMACKeys())
        let keys = try keys(of: tenant, book, environment)
        let source = try connect(to: owner, named: Setting.migrateURL.name)
        defer { source.close() }
        do {
            if arguments.has("abandon") {
                let hasAnswered = try TenantCopy.abandon(
                    tenant, from: source, to: { try open(destination, named: "--to") },
                    run: SecureRandom.uint128(), mayBeGone: arguments.has("unreachable"))
                let silence = hasAnswered ? "" : ", and --to could not be reached"
                Terminal.print(
                    "tenant \(tenant) is served here again\(silence); what was copied stays there, out of"
                        + " reach of erasures, until 'tenant discard' there\n")
                return .success
            }
            let target = try connect(to: destination, named: "--to")
            defer { target.close() }
            if arguments.has("restored") {
                try TenantCopy.markAgain(tenant, in: source, movedTo: target)
                Terminal.print("tenant \(tenant) is marked as moved here\n")
                return .success
            }
            try checkMode(at: destination, try environment.mode)
            let copy = try TenantCopy(
                tenant, from: source, to: target, run: SecureRandom.uint128())
            return try await run(
                copy, of: tenant, keys, urls: (here: owner, there: destination))
        } catch TenantCopyFault.active where !arguments.has("abandon") {
            Terminal.print("tenant \(tenant) was moved already\n")
            return .success
        } catch let fault as TenantCopyFault {
            throw Fault("tenant \(tenant): \(fault)")
        } catch let error as PostgresError {
            throw Fault("tenant \(tenant): \(error); repeat the command")
        }
    }

    private static func run(
        _ copy: TenantCopy, of tenant: TenantID, _ keys: Keys, urls: (here: String, there: String)
    ) async throws -> ExitCode {
        let say = { (step: String) in Terminal.printError("tenant \(tenant): \(step)") }
        say("begun")
        if try !copy.isStopped {
            try await verify(tenant, keys, at: urls.here, "here, and is not copied")
            say("verified here")
        }
        for _ in 0..<passesMax where try !copy.isStopped {
            let count = try copy.copyAhead()
            say("copied \(count) events ahead")
            if count < restMax { break }
        }
        let start = ContinuousClock.now
        let isMoved = try copy.isMoved
        if !isMoved {
            try copy.stop()
            say("stopped")
            try await copy.awaitQuiet()
            say("quiet")
        }
        // Also of a tenant that is marked as moved: its rows there may have been discarded, or restored, since.
        try copy.copyRest()
        say("copied")
        // Here it holds, too, because both sides have the same rows.
        try await verify(
            tenant, keys, at: urls.there,
            "there, and is served on neither side: repeat the command, or serve it here again with"
                + " --abandon")
        let prefix = try copy.root(keys: keys.wrapping.macs)
        say("verified")
        if !isMoved {
            try copy.markMoved()
            say("marked")
        }
        try copy.activate()
        let stopped =
            isMoved ? "" : "; it was stopped for \((ContinuousClock.now - start).formatted)"
        Terminal.print(
            "tenant \(tenant): moved \(prefix.size) events with the root"
                + " \(Base64.encode(prefix.root.bytes))\(stopped)\n")
        return .success
    }

    /// Verifies one side.
    private static func verify(
        _ tenant: TenantID, _ keys: Keys, at url: String, _ advice: String
    ) async throws {
        let report = try await report(tenant, keys, url)
        guard !report.holds else { return }
        let findings = report.findings.map { "\n  \($0)" }.joined()
        throw Fault("tenant \(tenant) does not hold \(advice):\(findings)")
    }

    private static func report(
        _ tenant: TenantID, _ keys: Keys, _ url: String
    ) async throws -> VerificationReport {
        let verifier = Verifier(
            url: url, keyring: keys.wrapping, searchKey: keys.searching.search)
        let report = try await verifier.run(tenant: tenant)
        await verifier.close()
        return report
    }

    /// Returns the keys.
    ///
    /// - Throws: `Fault` if the directory lacks one that the tenant needs, or the log is damaged.
    private static func keys(
        of tenant: TenantID, _ book: TenantOpenings, _ environment: Environment
    ) throws -> Keys {
        let directory = KeyDirectory(path: try environment.required(.keys))
        guard book.tenants.contains(tenant) else { throw Fault("tenant \(tenant) does not exist") }
        let keys = try book.keys(from: directory, mode: try environment.mode)
        if let fault = book.refused(with: keys.wrapping.macs, from: directory)[tenant.description] {
            throw Fault("tenant \(tenant) can't be copied: \(fault)")
        }
        return keys
    }

    /// Refuses a destination of the other mode: its servers would not start.
    private static func checkMode(at url: String, _ mode: LedgerOpened.Mode) throws {
        let book = try TenantOpenings.read(url: url)
        guard let other = book.facts.first(where: { $0.value.mode != mode }) else { return }
        throw Fault(
            "--to: the ledger of tenant \(other.key) was begun in \(other.value.mode.rawValue)")
    }

    private static func connect(to url: String, named name: String) throws(Fault) -> Connection {
        do {
            return try open(url, named: name)
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault("\(name): \(error)")
        }
    }

    /// Connects to a database with the schema of this binary.
    ///
    /// - Throws: `PostgresError`, which is `.connectionFailed` if it cannot be reached, or `Fault` for another schema.
    private static func open(_ url: String, named name: String) throws -> Connection {
        let connection = try Connection(
            url: url, applicationName: "account-ledger copy", statementDeadline: deadline)
        if let problem = SchemaCheck.problem(try Migrator.status(of: connection)) {
            connection.close()
            throw Fault("\(name): \(problem)")
        }
        return connection
    }
}

extension Duration {
    /// Seconds with one decimal place.
    fileprivate var formatted: String {
        let tenths = self / .milliseconds(100)
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) s"
    }
}

/// `tenant discard`: deletes the rows of a tenant that was moved away.
enum TenantDiscardCommand {
    static let syntax = Syntax(
        words: ["tenant", "discard"],
        summary: "delete what a moved tenant has left here, except its log",
        operands: [.init(placeholder: "NAME", meaning: "the tenant")],
        settings: [.databaseURL, .migrateURL],
        details: """
            For a tenant that 'tenant copy' has moved away, or only half copied here: an erasure at its new place
            does not reach the rows here. Deletes all of them but the log, its hashes and signatures, and the access
            log, which no login may delete and which have no personal data. There is no way back. The name stays
            taken here. Refused until the other database is known to serve the tenant: 'tenant copy' ends its move.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let tenant = arguments.operands.first.flatMap(TenantID.init) else {
            throw arguments.usageError("NAME must be the name of a tenant")
        }
        let url = try environment.migrateURL
        try SchemaCheck.withConnection(to: url, named: environment.migrateSetting) {
            $0.statementDeadline = .seconds(3600)
            do {
                try TenantDiscard.run(tenant, on: $0, run: SecureRandom.uint128())
            } catch let fault as TenantCopyFault {
                throw Fault("tenant \(tenant): \(fault)")
            }
        }
        Terminal.print("tenant \(tenant): discarded\n")
        return .success
    }
}
