import Ledger
import LedgerPostgres

/// What the commands that read a whole ledger have in common.
enum LedgerReading {
    static let tenantOption = Syntax.Option(
        name: "tenant", placeholder: "NAME", meaning: "only this tenant; default: every tenant")

    /// The tenant that `--tenant` names.
    ///
    /// - Throws: `UsageError` for a name that no tenant can have, `Fault` for one that none has.
    static func tenant(_ arguments: Arguments, url: String) throws -> TenantID? {
        let tenant = try arguments.value(of: "tenant", as: "a tenant's name", TenantID.init)
        let opened = try OpenedTenants.read(url: url)
        if let tenant, opened.facts[tenant] == nil {
            throw Fault("tenant \(tenant) does not exist")
        }
        return tenant
    }

    /// The keys that decrypt disclosures, when a key directory is configured.
    static func keyring(_ environment: Environment) throws(Fault) -> WrappingKeyring? {
        try keys(environment)?.wrapping
    }

    /// The keys that authenticate what is appended, when a key directory is configured.
    ///
    /// - Throws: `Fault` for a directory without any: `serve` makes the first one.
    static func macKeys(_ environment: Environment) throws(Fault) -> MACKeys? {
        guard let path = environment.given(.keys) else { return nil }
        let directory = KeyDirectory(path: path)
        guard let keys = try directory.loadMACKeys() else {
            throw directory.fault(
                "\(path) holds no MAC key: \(Syntax.program) serve makes the first one")
        }
        return keys
    }

    /// All keys, when a key directory is configured.
    static func keys(_ environment: Environment) throws(Fault) -> Keys? {
        guard let path = environment.given(.keys) else { return nil }
        let directory = KeyDirectory(path: path)
        guard let keys = try directory.load() else {
            throw directory.fault("\(path) holds no keys")
        }
        return keys
    }
}
