internal import Cryptography
internal import Encodings
package import LedgerPostgres
internal import Postgres

/// A migrated database for a single test, dropped together with its roles at the end of the test.
///
///     try await ScratchDatabase.with { database in
///         let session = Session(url: database.runtimeURL, applicationName: "a test")
///     }
///
/// A migrated database of the superuser is a copy of ``ScratchTemplate`` with roles of its own, which have the
/// privileges that `migrate` grants.
/// Blocking calls run on a separate thread. At most 8 databases exist at a time; a test that requests a
/// second one while it holds the first may deadlock.
package struct ScratchDatabase: Sendable {
    /// The rights of the login that owns and migrates the schema.
    package enum Owner: Sendable, Hashable {
        /// The superuser of the cluster: the migration reaches append-only level 3.
        case superuser
        /// A login that may create roles: level 2.
        case roleCreator
        /// A login that may create only objects in its database.
        case plain
    }

    /// The database's name, the prefix of its roles' names.
    package let name: String
    /// The login that owns the schema.
    package let ownerURL: String
    /// A login that owns nothing and gets its rights from the migration.
    package let runtimeURL: String
    /// The cluster's superuser, in this database.
    package let superuserURL: String
    /// The login of `runtimeURL`.
    package let runtimeLogin: String
    /// The login of `ownerURL`, or nil for the cluster's superuser.
    package let ownerLogin: String?
    /// For the test's own statements.
    package let sessions = SessionPool()
    /// The nodes of Citus that hold its shards; none on Postgres alone.
    private let workers: [String]

    /// Runs the body with a new database, by default a migrated one, and then drops it in any case.
    ///
    /// With nodes of Citus it is distributed over these, unless `isSharded` is false.
    ///
    /// - Throws: `TestCluster.Missing`, or an error of the setup or the body.
    package static func with<Value>(
        owner: Owner = .superuser, isMigrated: Bool = true, isSharded: Bool = true,
        _ body: (ScratchDatabase) async throws -> Value
    ) async throws -> Value {
        let session = Session(
            url: try TestCluster.url, applicationName: "scratch database",
            statementDeadline: .seconds(60))
        await ScratchSlots.shared.acquire()
        do {
            let value = try await provide(
                owner: owner, isMigrated: isMigrated,
                workers: isSharded ? TestCluster.workers : [], session, body)
            await ScratchSlots.shared.release()
            return value
        } catch {
            await ScratchSlots.shared.release()
            throw error
        }
    }

    private static func provide<Value>(
        owner: Owner, isMigrated: Bool, workers: [String], _ session: Session,
        _ body: (ScratchDatabase) async throws -> Value
    ) async throws -> Value {
        let passwords = (owner: randomName(), runtime: randomName())
        let database = try ScratchDatabase(
            owner: owner, passwords: passwords, workers: workers)
        let value: Value
        do {
            let template =
                isMigrated && owner == .superuser && TestCluster.workers.isEmpty
                ? try await ScratchTemplate.shared.name : nil
            try await session.run { connection in
                try database.create(
                    connection, owner: owner, passwords: passwords,
                    template: template ?? "template0")
                if let template {
                    try database.makeRoles(withPrivilegesOf: template, connection)
                } else if isMigrated {
                    _ = try database.migrator.migrate()
                }
            }
            value = try await body(database)
        } catch {
            await database.sessions.close()
            // The first failure is reported; the database may not even exist.
            try? await session.run { try database.drop($0) }
            throw error
        }
        await database.sessions.close()
        try await session.run { try database.drop($0) }
        return value
    }

    /// The blocking migrator of this database; use ``migrate()`` to run it.
    package var migrator: Migrator { Migrator(ownerURL: ownerURL, runtimeURL: runtimeURL) }

    /// Migrates on a separate thread.
    package func migrate() async throws -> MigrationReport {
        let session = Session(url: superuserURL, applicationName: "scratch migration")
        let migrator = migrator
        return try await session.run { _ in try migrator.migrate() }
    }

    private init(
        owner: Owner, passwords: (owner: String, runtime: String), workers: [String]
    ) throws {
        self.workers = workers
        name = "ledger_test_" + Self.randomName()
        runtimeLogin = name + "_login"
        runtimeURL = try TestCluster.url(replacing: [
            "dbname": name, "user": runtimeLogin, "password": passwords.runtime,
        ])
        superuserURL = try TestCluster.url(replacing: ["dbname": name])
        guard owner != .superuser else {
            ownerLogin = nil
            ownerURL = superuserURL
            return
        }
        let login = name + "_owner"
        ownerLogin = login
        ownerURL = try TestCluster.url(replacing: [
            "dbname": name, "user": login, "password": passwords.owner,
        ])
    }

    private func create(
        _ connection: Connection, owner: Owner, passwords: (owner: String, runtime: String),
        template: String
    ) throws {
        let ownership = ownerLogin.map { " OWNER \($0)" } ?? ""
        if let ownerLogin {
            let right = owner == .roleCreator ? "CREATEROLE" : "NOCREATEROLE"
            let password = Self.verifier(of: passwords.owner)
            try connection.execute(
                "CREATE ROLE \(ownerLogin) LOGIN \(right) PASSWORD '\(password)'")
        }
        let password = Self.verifier(of: passwords.runtime)
        try connection.execute("CREATE ROLE \(runtimeLogin) LOGIN PASSWORD '\(password)'")
        try connection.execute("CREATE DATABASE \(name)\(ownership) TEMPLATE \(template)")
        guard !workers.isEmpty else { return }
        for worker in workers {
            let node = try Self.connect(to: worker)
            defer { node.close() }
            if let ownerLogin {
                try node.execute("CREATE ROLE \(ownerLogin) LOGIN")
            }
            try node.execute("CREATE ROLE \(runtimeLogin) LOGIN")
            try node.execute("CREATE DATABASE \(name)\(ownership) TEMPLATE \(template)")
        }
        try joinNodes(workers)
    }

    /// Makes this copy's roles, and gives them the privileges of the template's.
    ///
    /// The lists of privileges are rewritten in the catalogue: hundreds of GRANTs take as long as many tests.
    private func makeRoles(withPrivilegesOf template: String, _ connection: Connection) throws {
        let roles = LedgerRoles(database: name)
        let made = roles.all.map { "CREATE ROLE \($0) NOLOGIN;" }.joined(separator: "\n")
        try connection.execute(
            """
            \(made)
            GRANT \(roles.runtime) TO \(runtimeLogin);
            GRANT CONNECT ON DATABASE \(name) TO \(roles.all.joined(separator: ", "))
            """)
        let copy = try Self.connect(to: superuserURL)
        defer { copy.close() }
        let privilegeLists = [
            ("class", "relacl"), ("attribute", "attacl"), ("proc", "proacl"),
            ("namespace", "nspacl"),
        ]
        for (catalogue, list) in privilegeLists {
            try copy.execute(
                """
                UPDATE pg_catalog.pg_\(catalogue)
                SET \(list) = replace(\(list)::text, '\(template)_', '\(name)_')::aclitem[]
                WHERE position('\(template)_' IN \(list)::text) > 0
                """)
        }
        // So that a role with privileges can't be dropped here either.
        try copy.execute(
            """
            UPDATE pg_catalog.pg_shdepend d SET refobjid = own.oid
            FROM pg_catalog.pg_roles former, pg_catalog.pg_roles own
            WHERE d.refclassid = 'pg_catalog.pg_authid'::regclass AND d.refobjid = former.oid
                AND d.dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = '\(name)')
                AND position('\(template)_' IN former.rolname) = 1
                AND own.rolname = replace(former.rolname, '\(template)_', '\(name)_')
            """)
    }

    private static func connect(to url: String) throws -> Connection {
        try Connection(
            url: url, applicationName: "scratch database", statementDeadline: .seconds(60))
    }

    /// Adds a node; again where other tests made or dropped a login at the same time, which Citus copies, too.
    private func add(_ sql: String, _ coordinator: Connection) throws {
        for _ in 0..<9 {
            do throws(PostgresError) {
                return try coordinator.execute(sql)
            } catch {
                guard error.state?.conditionClass == "XX" else { throw error }
            }
        }
        try coordinator.execute(sql)
    }

    /// Makes the databases of all nodes one, with few shards, since each is a table.
    private func joinNodes(_ workers: [String]) throws {
        let extending = "CREATE EXTENSION citus"
        let coordinator = try Self.connect(to: superuserURL)
        defer { coordinator.close() }
        try coordinator.execute(extending)
        try coordinator.execute("ALTER DATABASE \(name) SET citus.shard_count = 4")
        let address = Statement(
            "node_address", "SELECT host(inet_server_addr()), inet_server_port()")
        let own = try coordinator.query(address)
        try coordinator.execute(
            "SELECT citus_set_coordinator_host('\(try own.text(0, 0))', \(try own.int4(0, 1)))")
        for worker in workers {
            let node = try Self.connect(to: TestCluster.replacing(["dbname": name], in: worker))
            defer { node.close() }
            try node.execute(extending)
            let found = try node.query(address)
            try add(
                "SELECT citus_add_node('\(try found.text(0, 0))', \(try found.int4(0, 1)))",
                coordinator)
        }
    }

    private func drop(_ connection: Connection) throws {
        try connection.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        let roles =
            LedgerRoles(database: name).all + [runtimeLogin] + (ownerLogin.map { [$0] } ?? [])
        try connection.execute("DROP ROLE IF EXISTS \(roles.joined(separator: ", "))")
        for worker in workers {
            let node = try Self.connect(to: worker)
            defer { node.close() }
            try node.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            for role in roles { try node.execute("DROP ROLE IF EXISTS \(role)") }
        }
    }

    /// Returns a password as the server keeps it, with one iteration of SCRAM.
    ///
    /// The usual thousands take milliseconds of each connection, and matter for passwords that can be guessed.
    private static func verifier(of password: String) -> String {
        let salt = SecureRandom.bytes(16)
        let salted = HMACSHA256.mac(key: password, salt + [0, 0, 0, 1])
        let client = SHA256.hash(HMACSHA256.mac(key: salted, Array("Client Key".utf8)))
        let server = HMACSHA256.mac(key: salted, Array("Server Key".utf8))
        return "SCRAM-SHA-256$1:\(Base64.encode(salt))"
            + "$\(Base64.encode(client)):\(Base64.encode(server))"
    }

    private static func randomName() -> String { Hex.encode(SecureRandom.bytes(8)) }
}
