internal import Foundation
internal import Postgres
internal import Synchronization

/// A whole installation: a scratch database, keys, two identity providers and server processes.
package final class Deployment: Sendable {
    /// The cluster's superuser, in the installation's database.
    package let superuserURL: String
    package let google: TestIdentityProvider
    package let apple: TestIdentityProvider
    package let tool: CommandLineTool
    private let directory: String
    private let servers = Mutex<[ServerProcess]>([])

    /// Runs the body with an installation without servers, which is removed afterwards.
    ///
    /// `settings` are environment variables that add to or replace the usual ones.
    ///
    /// - Throws: an error of the setup or the body.
    package static func with<Value>(
        settings: [String: String] = [:], _ body: (Deployment) async throws -> Value
    ) async throws -> Value {
        try await ScratchDatabase.with { database in
            try await with(database, settings: settings, body)
        }
    }

    /// Runs the body with an installation on a database of its own.
    ///
    /// - Throws: an error of the setup or the body.
    package static func with<Value>(
        _ database: ScratchDatabase, settings: [String: String] = [:],
        _ body: (Deployment) async throws -> Value
    ) async throws -> Value {
        try await provide(
            Deployment(
                superuserURL: database.superuserURL, runtimeURL: database.runtimeURL,
                settings: settings), body)
    }

    /// Runs the body with an installation on its own cluster.
    ///
    /// `runtimePort` is the port on which its servers reach the cluster, if not the cluster's own.
    ///
    /// - Throws: an error of the setup or the body.
    package static func with<Value>(
        on cluster: PrivateCluster, settings: [String: String] = [:], runtimePort: Int? = nil,
        _ body: (Deployment) async throws -> Value
    ) async throws -> Value {
        let owner = cluster.url.replacing("/postgres", with: "/ledger")
        let runtime = owner.replacing("//owner@", with: "//ledger_app@")
            .replacing(":\(cluster.port)/", with: ":\(runtimePort ?? cluster.port)/")
        return try await with(
            clusterAt: cluster.url, superuserURL: owner, runtimeURL: runtime, settings: settings,
            body)
    }

    /// Runs the body with an installation in the new database `ledger` of a cluster, with the new login `ledger_app`.
    ///
    /// - Parameters:
    ///   - url: the superuser's URL of another database.
    ///   - superuserURL: the superuser's URL of the new database.
    ///   - runtimeURL: the new login's URL of it.
    ///   - password: the new login's password, if it needs one.
    ///   - settings: environment variables that add to or replace the usual ones.
    ///   - prepare: prepares the new database before it is migrated.
    ///   - body: the use of the installation.
    /// - Returns: the result of the body.
    /// - Throws: an error of the setup or the body.
    package static func with<Value>(
        clusterAt url: String, superuserURL: String, runtimeURL: String, password: String? = nil,
        settings: [String: String], prepare: () async throws -> Void = {},
        _ body: (Deployment) async throws -> Value
    ) async throws -> Value {
        let session = Session(url: url, applicationName: "deployment")
        try await session.run { connection in
            let secret = password.map { " PASSWORD " + quoteLiteral($0) } ?? ""
            try connection.execute("CREATE ROLE ledger_app LOGIN" + secret)
            try connection.execute("CREATE DATABASE ledger")
        }
        await session.close()
        try await prepare()
        let deployment = try Deployment(
            superuserURL: superuserURL, runtimeURL: runtimeURL, settings: settings)
        return try await provide(deployment) { deployment in
            let migrated = try await deployment.tool.run(["migrate"])
            guard migrated.status == 0 else {
                throw TestTimeout(waitingFor: "the migration: \(migrated.errors)")
            }
            return try await body(deployment)
        }
    }

    private static func provide<Value>(
        _ deployment: Deployment, _ body: (Deployment) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await body(deployment)
            await deployment.tearDown()
            return value
        } catch {
            await deployment.tearDown()
            throw error
        }
    }

    private init(superuserURL: String, runtimeURL: String, settings: [String: String]) throws {
        self.superuserURL = superuserURL
        google = TestIdentityProvider("google")
        apple = TestIdentityProvider("apple")
        try google.listen()
        try apple.listen()
        directory = NSTemporaryDirectory() + "account-ledger-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let providers = directory + "/providers.json"
        try Self.providersFile(google: google, apple: apple)
            .write(toFile: providers, atomically: true, encoding: .utf8)
        let usual = [
            "DATABASE_URL": runtimeURL, "LEDGER_MIGRATE_URL": superuserURL,
            "LEDGER_KEYS": directory + "/keys", "LEDGER_PROVIDERS": providers,
            "LEDGER_MODE": "production", "LEDGER_LISTEN": "127.0.0.1:0",
            "LEDGER_ADMIN_LISTEN": "127.0.0.1:0", "LEDGER_ISSUER": "https://ledger.example",
        ]
        let environment = usual.merging(settings) { $1 }
        if environment["LEDGER_MODE"] == "development" {
            try DevelopmentKeys.write(to: directory + "/keys")
        }
        tool = CommandLineTool(environment: environment)
    }

    /// Starts a server and waits until it is ready.
    ///
    /// - Throws: an error of the start, or `TestTimeout` with the server's output.
    package func serve(settings: [String: String] = [:]) async throws -> ServerProcess {
        let server = try await ServerProcess.start(tool.environment.merging(settings) { $1 })
        servers.withLock { $0.append(server) }
        return server
    }

    /// Returns a providers file as in docs/configuration.md, with the tests' own providers.
    package static func providersFile(
        google: TestIdentityProvider, apple: TestIdentityProvider
    ) -> String {
        """
        {"providers":[
          {"name":"google","type":"oidc","issuer":["\(google.issuer)","google.example"],
           "jwks_uri":"\(google.keySetURL)","audiences":["\(TestIdentityProvider.audience)"],
           "algorithms":["RS256"]},
          {"name":"apple","type":"oidc","issuer":"\(apple.issuer)",
           "jwks_uri":"\(apple.keySetURL)","audiences":["\(TestIdentityProvider.audience)"],
           "algorithms":["RS256"],"nonce":"sha256"}]}
        """
    }

    /// Providers of passwords and of codes by e-mail, for ``configure(providers:members:)``.
    package static let addressProviders =
        #"{"name":"password","type":"password"},{"name":"email","type":"email"}"#

    /// Replaces the providers file by one in which the tenant has further providers, and further members.
    ///
    /// - Parameters:
    ///   - providers: Objects of providers, separated by commas.
    ///   - members: Members of the tenant with a comma after each, such as `"confirm_later":true,`.
    /// - Throws: an error of the file system.
    package func configure(providers: String, members: String = "") throws {
        let file = Self.providersFile(google: google, apple: apple).replacing(
            #"{"providers":["#, with: "{\(members)\"providers\":[\(providers),")
        _ = try write(file, to: "providers.json")
    }

    /// Replaces the providers file by one whose tenant confirms addresses later.
    ///
    /// - Throws: an error of the file system.
    package func confirmLater() throws {
        try configure(providers: Self.addressProviders, members: #""confirm_later":true,"#)
    }

    /// Returns the path of a file in the installation's own directory.
    package func path(_ name: String) -> String {
        directory + "/" + name
    }

    /// Writes a file into the installation's own directory and returns its path.
    ///
    /// - Throws: an error of the file system.
    package func write(_ text: String, to name: String) throws -> String {
        let path = path(name)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func tearDown() async {
        for server in servers.withLock(\.self) {
            try? await server.kill()
        }
        await google.stop()
        await apple.stop()
        try? FileManager.default.removeItem(atPath: directory)
    }
}

extension Deployment {
    /// Creates an API key with the command line, as an operator does.
    ///
    /// - Throws: an error of the run, or `TestTimeout` with the command's output.
    package func apiKey(_ role: String, label: String = "test") async throws -> String {
        let made = try await tool.run(["keys", "api", "create", "--role", role, "--label", label])
        guard made.status == 0 else { throw TestTimeout(waitingFor: "a key: \(made.errors)") }
        return String(made.output.dropLast())
    }
}
