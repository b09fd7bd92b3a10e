import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

@Suite struct `Migrating a database` {
    static let later = Migration(
        version: Migration.embedded.count + 1, name: "V00X_later.sql",
        sql: Array("CREATE TABLE later (n int)".utf8))

    @Test func `an empty database gets every migration, and a second run changes nothing`()
        async throws
    {
        try await ScratchDatabase.with(isMigrated: false) { database in
            #expect(try await database.asSuperuser.status() == .missing)
            let first = try await database.migrate()
            #expect(first.applied == Migration.embedded.map(\.version))
            #expect(first.version == Migration.embedded.count)
            #expect(first.repaired == [])
            let second = try await database.migrate()
            #expect(second.applied == [])
            #expect(second.repaired == [])
            #expect(second.guards == first.guards)
            #expect(try await database.asSuperuser.status() == .current)
        }
    }

    @Test func `the schema alone has no roles, and migrating adds those of the database`()
        async throws
    {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let migrator = database.migrator
            try await database.asSuperuser.with { _ in try migrator.applySchema() }
            #expect(try await database.asSuperuser.status() == .current)
            let groups =
                "SELECT rolname::text FROM pg_roles WHERE rolname ~ '^\(database.name)_ledger_'"
            #expect(try await database.asSuperuser.texts(groups) == [])
            let report = try await database.migrate()
            #expect(report.applied == [])
            #expect(report.guards.level == .eventTriggers)
            #expect(
                try await database.asSuperuser.texts(groups).sorted()
                    == LedgerRoles(database: database.name).all.sorted())
        }
    }

    @Test func `four migrators at once apply each migration once`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator, isMigrated: false) { database in
            let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await database.migrate() }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reports.flatMap(\.applied) == Migration.embedded.map(\.version))
            #expect(reports.allSatisfy { $0.guards.level == .separateRoles })
        }
    }

    @Test func `the serving login reads the status`() async throws {
        try await ScratchDatabase.with { database in
            let status = try await database.asRuntime.status()
            #expect(status == .current)
        }
    }

    @Test func `a database newer than the binary is refused`() async throws {
        try await ScratchDatabase.with { database in
            try await database.asOwner.execute(
                "INSERT INTO ledger_migrations VALUES (999, 'V999_later.sql', '\\x00')")
            #expect(try await database.asRuntime.status() == .newer(999))
            await #expect(
                throws: MigrationError.databaseIsNewer(
                    database: 999, binary: Migration.embedded.count)
            ) {
                try await database.migrate()
            }
        }
    }

    @Test func `an applied migration whose text was edited is refused`() async throws {
        try await ScratchDatabase.with { database in
            try await database.asOwner.execute(
                "UPDATE ledger_migrations SET sha256 = sha256(sha256) WHERE version = 1")
            #expect(try await database.asRuntime.status() == .differs(version: 1))
            await #expect(throws: MigrationError.migrationDiffers(version: 1)) {
                try await database.migrate()
            }
        }
    }

    @Test func `a later binary applies only what is missing`() async throws {
        try await ScratchDatabase.with(owner: .plain) { database in
            let migrations = Migration.embedded + [Self.later]
            let later = Migrator(
                ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
                migrations: migrations)
            let report = try await database.asSuperuser.run(later)
            #expect(report.applied == [migrations.count])
            #expect(try await database.asOwner.status() == .newer(migrations.count))
        }
    }

    @Test func `a failing migration is rolled back, and earlier ones remain`()
        async throws
    {
        try await ScratchDatabase.with(owner: .plain, isMigrated: false) { database in
            let bad = Migration(
                version: Migration.embedded.count + 1, name: "V00X_bad.sql",
                sql: Array("CREATE TABLE half (n int); SELECT 1 / 0".utf8))
            let migrator = Migrator(
                ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
                migrations: Migration.embedded + [bad])
            let error = await #expect(throws: PostgresError.self) {
                try await database.asSuperuser.run(migrator)
            }
            #expect(error?.state == .divisionByZero)
            #expect(try await database.asOwner.status() == .current)
            let half = try await database.asOwner.texts("SELECT to_regclass('half') IS NULL || ''")
            #expect(half == ["true"])
        }
    }

    @Test func `a serving login that does not exist is named as the reason`() async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            try await database.asSuperuser.execute("DROP ROLE \(database.runtimeLogin)")
            let error = await #expect(throws: MigrationError.self) { try await database.migrate() }
            guard case .runtimeLoginUnusable = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(try await database.asSuperuser.status() == .missing)
        }
    }

    @Test func `URLs of two databases are refused before anything is changed`() async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let elsewhere = Migrator(
                ownerURL: database.ownerURL, runtimeURL: try TestCluster.url)
            await #expect(throws: MigrationError.differentDatabases) {
                try await database.asSuperuser.run(elsewhere)
            }
            #expect(try await database.asSuperuser.status() == .missing)
        }
    }

    @Test func `a login that does not own the tables cannot migrate them`() async throws {
        try await ScratchDatabase.with(owner: .plain) { database in
            let wrong = Migrator(
                ownerURL: database.runtimeURL, runtimeURL: database.runtimeURL)
            await #expect(
                throws: MigrationError.notTheOwner(
                    login: database.runtimeLogin, owner: database.ownerLogin ?? "")
            ) {
                try await database.asSuperuser.run(wrong)
            }
        }
    }
}
