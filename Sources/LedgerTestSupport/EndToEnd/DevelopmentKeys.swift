internal import Cryptography
internal import DevelopmentIdentityProvider
internal import Foundation

/// The keys of the identity providers that a server in development mode imitates.
///
/// A server generates those that it does not find, which takes a large part of its start, so all deployments of a
/// test run share these.
enum DevelopmentKeys {
    private static let files: [String: Data] = {
        let names = DevelopmentIdentityProvider.names + [DevelopmentIdentityProvider.staffName]
        return names.reduce(into: [:]) {
            $0["dev-idp-\($1).jwk"] = Data(RSASigningKey.generate().exported())
        }
    }()

    /// Creates a key directory with these keys and no others.
    ///
    /// - Throws: when a file can't be written.
    static func write(to directory: String) throws {
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: directory, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        for (name, content) in files {
            guard
                manager.createFile(
                    atPath: "\(directory)/\(name)", contents: content,
                    attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
        }
    }
}
