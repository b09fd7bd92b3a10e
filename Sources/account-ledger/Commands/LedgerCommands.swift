import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres
import Passwords

/// Shared parts of the commands that read a whole ledger.
enum LedgerCommands {
    static let tenantOption = Syntax.Option(
        name: "tenant", placeholder: "NAME", meaning: "only this tenant; default: every tenant")

    /// Returns the tenant that `--tenant` names.
    ///
    /// - Throws: `UsageError` for a malformed name, `Fault` for a tenant that does not exist.
    static func tenant(
        _ arguments: Arguments, url: String, named setting: Setting = .databaseURL
    ) throws -> TenantID? {
        let tenant = try arguments.value(of: "tenant", as: "a tenant name", TenantID.init)
        let opened = try TenantOpenings.read(url: url, named: setting)
        if let tenant, !opened.tenants.contains(tenant) {
            throw Fault("tenant \(tenant) does not exist")
        }
        return tenant
    }

    /// Returns the tenant that `--tenant` names, for a command that changes it.
    ///
    /// - Throws: `UsageError` for a malformed name, `Fault` for a tenant that does not exist, or is being moved.
    static func servedTenant(_ arguments: Arguments, url: String) throws -> TenantID? {
        let tenant = try tenant(arguments, url: url)
        if let tenant, let move = try TenantOpenings.read(url: url).moves[tenant] {
            throw Fault("\(TenantRefusal(tenant: tenant, move: move))")
        }
        return tenant
    }

    /// Prints that a tenant is left out of a command because it is being moved, or was.
    static func reportMoved(_ tenant: TenantID, _ move: TenantMove) {
        Terminal.printError("tenant \(tenant) is left out: it \(move.description)")
    }

    /// Prints which tenants a command leaves out, each with the fault of its log.
    @discardableResult
    static func reportLeftOut(_ faults: [String: String]) -> ExitCode {
        for (tenant, fault) in faults.sorted(by: { $0.key < $1.key }) {
            Terminal.printError("tenant \(tenant) was left out: \(fault)")
        }
        return faults.isEmpty ? .success : .fault
    }

    /// Returns the keys that decrypt disclosures; nil when no key directory is configured.
    static func keyring(_ environment: Environment) throws(Fault) -> WrappingKeyring? {
        try keys(environment)?.wrapping
    }

    /// Returns the keys of hashes of passwords.
    static func peppers(_ environment: Environment) throws(Fault) -> PasswordPeppers {
        try keys(environment)?.peppers ?? PasswordPeppers.none
    }

    /// Returns the keys that authenticate events; nil when no key directory is configured.
    ///
    /// - Throws: `Fault` for a directory without MAC keys: `serve` creates the first one.
    static func macKeys(_ environment: Environment) throws(Fault) -> MACKeys? {
        guard let path = environment.given(.keys) else { return nil }
        let directory = KeyDirectory(path: path)
        guard let keys = try directory.loadMACKeys() else {
            throw directory.fault(
                "\(path) holds no MAC key: \(Syntax.program) serve creates the first one")
        }
        return keys
    }

    /// Returns the keys that authenticate events; nil when no key directory is configured, and after a
    /// warning when it holds no MAC key.
    ///
    /// - Throws: `Fault` for a missing directory.
    static func macKeysIfAny(_ environment: Environment) throws(Fault) -> MACKeys? {
        guard let path = environment.given(.keys) else { return nil }
        let directory = KeyDirectory(path: path)
        guard try directory.list() != nil else { throw directory.fault("\(path) does not exist") }
        let keys = try directory.loadMACKeys()
        if keys == nil {
            Terminal.printError("\(path) holds no MAC key: events are not authenticated")
        }
        return keys
    }

    /// Returns all keys; nil when no key directory is configured.
    static func keys(_ environment: Environment) throws(Fault) -> Keys? {
        guard let path = environment.given(.keys) else { return nil }
        let directory = KeyDirectory(path: path)
        guard let keys = try directory.load() else {
            throw directory.fault("\(path) holds no keys")
        }
        return keys
    }
}
