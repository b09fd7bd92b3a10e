internal import Cryptography
internal import JSON
package import Ledger
package import TransparencyLog

/// The description of a bundle; its first file.
package struct BundleHead: Hashable, Sendable {
    /// The part of the log that a bundle holds.
    package enum Scope: Hashable, Sendable {
        /// Every entry up to the checkpoint.
        case all
        /// Every entry up to the checkpoint that touches one account.
        case account(AccountID)
    }

    private static let format = "account-ledger-bundle@v1"
    /// The newest version of each type of event that this release knows.
    private static let knownVersions = Dictionary(
        uniqueKeysWithValues: Event.Name.allCases.map { ($0.rawValue, Int64($0.newestVersion)) })

    package let tenant: TenantID
    package let scope: Scope
    /// The checkpoint against which the whole bundle is verified.
    package let checkpoint: Checkpoint
    /// Whether the bundle holds the personal data that was not destroyed.
    package let isDisclosed: Bool
    /// The newest version of each type of event that the exporting release knows; empty in bundles
    /// made before any type had a second version.
    package let versions: [String: Int64]

    /// Describes a bundle.
    package init(tenant: TenantID, scope: Scope, checkpoint: Checkpoint, isDisclosed: Bool) {
        self.tenant = tenant
        self.scope = scope
        self.checkpoint = checkpoint
        self.isDisclosed = isDisclosed
        versions = Self.knownVersions
    }

    /// Whether the exporting release writes types or versions of events that this one cannot read.
    var isOfNewerRelease: Bool {
        versions.contains { type, version in version > Self.knownVersions[type] ?? 0 }
    }

    /// Reads the file; nil when its format is unknown.
    init?(parsing bytes: [UInt8]) {
        guard
            let members = JSONValue(parsing: bytes)?.members,
            members["format"]?.string == Self.format,
            let tenant = (members["tenant"]?.string).flatMap({ TenantID($0) }),
            let origin = (members["origin"]?.string).flatMap({ NoteKeyName($0) }),
            let size = (members["size"]?.string).flatMap({ Int64(count: $0) }),
            let root = (members["root"]?.string).flatMap({ TreeHash(base64: $0) }),
            case .bool(let isDisclosed)? = members["disclosed"],
            let versions = Self.versions(members["versions"])
        else {
            return nil
        }
        switch (members["scope"]?.string, members["account"]?.string) {
        case ("all", nil): scope = .all
        case ("account", let text?):
            guard let account = AccountID(canonical: text) else { return nil }
            scope = .account(account)
        default: return nil
        }
        self.tenant = tenant
        self.isDisclosed = isDisclosed
        self.versions = versions
        checkpoint = Checkpoint(origin: origin, size: size, root: root)
    }

    private static func versions(_ value: JSONValue?) -> [String: Int64]? {
        guard let value else { return [:] }
        guard let members = value.members else { return nil }
        var versions: [String: Int64] = [:]
        for name in members.keys {
            guard let version = members[name]?.string.flatMap({ Int64(count: $0) }) else {
                return nil
            }
            versions[name] = version
        }
        return versions
    }

    /// The file's bytes.
    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.line { writer in
            writer.member("format", Self.format)
            writer.member("tenant", tenant.description)
            switch scope {
            case .all: writer.member("scope", "all")
            case .account(let account):
                writer.member("scope", "account")
                writer.member("account", account.description)
            }
            writer.member("origin", checkpoint.origin.description)
            writer.member("size", String(checkpoint.size))
            writer.member("root", checkpoint.root.description)
            writer.name("disclosed")
            writer.flag(isDisclosed)
            writer.name("versions")
            writer.object(versions.mapValues { String($0) })
        }
        return writer.bytes
    }

    /// The completeness that the bundle proves, and the limits of the proof.
    package var completeness: String {
        switch scope {
        case .all:
            "Every entry of the log up to the checkpoint, recomputed to its root. Nothing is said "
                + "about what came after."
        case .account(let account):
            "Every entry that touches account \(account) with seq 0 to the last one here, without "
                + "a gap: each names the one before it by its hash. Whether the account has later "
                + "entries below the checkpoint's size is not proved; a bundle of the whole log "
                + "proves it."
        }
    }
}

extension Int64 {
    /// Reads ASCII digits without a sign and without a leading zero; nil for any other text.
    init?(count text: String) {
        guard let number = Int64(text), number >= 0, String(number).utf8.elementsEqual(text.utf8)
        else { return nil }
        self = number
    }
}
