import CommandLine
import Cryptography
import DevelopmentIdentityProvider
import Foundation
import LedgerAPI
import LedgerPostgres
import LedgerSignIn
import OpenID

/// The identity provider of the staff: from the file, or that of the development mode.
struct StaffSetup: Sendable {
    private let settings: StaffSettings
    /// Fetches the metadata; nil for a provider on the network.
    private let metadata: KeySetCache.Fetch?

    /// Reads the file of `LEDGER_STAFF`, and the file that it names.
    ///
    /// - Throws: `Fault` with one line that names the position in the file.
    init(path: String) throws(Fault) {
        let name = Setting.staff.name
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Fault("\(name): can't read the file")
        }
        let file: StaffFile
        do throws(ProvidersFileFault) {
            file = try StaffFile(Array(data))
        } catch {
            throw Fault("\(name): \(error)")
        }
        let secret = try SecretFile.text(
            path: file.clientSecretFile, of: "\(name): client_secret_file")
        settings = file.settings(secret: secret)
        metadata = nil
    }

    /// Describes the imitated provider of the development mode.
    init(_ provider: DevelopmentIdentityProvider) {
        let name = DevelopmentIdentityProvider.staffName
        settings = StaffSettings(
            issuer: provider.issuer(of: name) ?? "", client: DevelopmentIdentityProvider.audience,
            secret: ImitatedTokenProvider.clientSecret, rules: .development)
        let document = provider.metadata(of: name)
        metadata = { _ in FetchedKeySet(body: document, maxAgeSeconds: nil) }
    }

    /// Returns the services of the console.
    func services(
        key: SymmetricKey, url: String, log: Log
    ) -> StaffServices {
        let onFault: @Sendable (String) -> Void = {
            log.write(.warning, "staff sign-in fault", ["detail": .text($0)])
        }
        let discovery =
            metadata.map { StaffDiscovery(settings, fetch: $0, onFault: onFault) }
            ?? StaffDiscovery(settings, onFault: onFault)
        return StaffServices(
            sessions: StaffSessions(key: key),
            store: PostgresStaffSessions(url: url) {
                log.write(.error, "console session fault", ["detail": .text($0)])
            },
            flows: StaffFlows(settings, discovery: discovery, key: key))
    }
}
