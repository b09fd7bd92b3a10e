import HTTP
import Ledger
import LedgerAPI

/// All targets with their shares of the executions.
enum Catalogue {
    /// The names in the order of the report, with shares that add up to about a thousand.
    static let shares: [(name: String, share: Int)] = [
        ("base64url", 60), ("hex", 20), ("values", 60), ("media-type", 40), ("forwarded-for", 60),
        ("form", 20), ("return-address", 20),
        ("settings", 40), ("email-address", 40), ("phone-number", 20), ("password-hash", 40),
        ("password", 40), ("password-import", 20),
        ("json-elements", 20), ("csv-rows", 20), ("copy-rows", 20), ("auth0-user", 20),
        ("firebase-user", 20), ("keycloak-user", 20), ("supabase-file", 10),
        ("passkey-creation", 20), ("passkey-assertion", 20), ("json", 110),
        ("request-head", 50), ("request-target", 60),
        ("providers-file", 60),
        ("entries", 120), ("disclosures", 40), ("rows", 80), ("id-token", 50),
        ("id-token-claims", 20), ("access-token", 40), ("refresh-token", 20), ("api-key", 20),
        ("key-set", 20),
        ("signed-note", 40), ("bundle", 10),
        ("key-file", 8), ("api", 20), ("socket", 10), ("command-line", 1),
    ]

    /// Makes the target with a name.
    static func target(_ name: String, _ options: Options) async throws -> FuzzTarget {
        let service = try FuzzService()
        switch name {
        case "json": return JSONTarget.target
        case "request-head": return RequestHeadTarget.target
        case "request-target": return RequestTargetTarget.target
        case "providers-file": return ProvidersFileTarget.target
        case "entries": return try StoredTargets.entries()
        case "disclosures": return StoredTargets.disclosures
        case "rows": return StoredTargets.rows
        case "supabase-file":
            return ImportTargets.supabase(directory: options.directory)
        case "bundle": return try LogTargets.bundles(directory: options.directory)
        case "api": return try APITarget.target(service)
        case "socket":
            let served =
                if let port = options.server {
                    try SocketTarget.development(port: port)
                } else {
                    try await SocketTarget.inProcess(service)
                }
            return SocketTarget.target(served)
        case "command-line":
            return CommandLineTarget.target(
                executable: options.executable, directory: options.directory)
        default:
            let others =
                TextTargets.all + AddressTargets.all + PasswordTargets.all + PasskeyTargets.all
                + ImportTargets.all + FlowTargets.all + TokenTargets.all(service)
                + PlantedTargets.all + [LogTargets.notes]
            guard let target = others.first(where: { $0.name == name }) else {
                throw UsageError("unknown target '\(name)'")
            }
            return target
        }
    }
}
