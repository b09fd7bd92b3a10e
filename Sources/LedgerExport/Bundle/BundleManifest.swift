internal import Cryptography
internal import JSON

/// The last file of a bundle: the list of its files and their digests.
///
/// It detects damage, but not forgery, because it is not signed.
struct BundleManifest {
    static let format = "account-ledger-manifest@v1"

    let events: Int64
    let checkpoints: Int64
    let files: [String: BundleWriter.File]

    /// Reads the file; nil when it is malformed, or has a duplicate file name.
    init?(parsing bytes: [UInt8]) {
        guard
            let members = JSONValue(parsing: bytes)?.members,
            members["format"]?.string == Self.format,
            let events = (members["events"]?.string).flatMap({ Int64(count: $0) }),
            let checkpoints = (members["checkpoints"]?.string).flatMap({ Int64(count: $0) }),
            let list = members["files"]?.array
        else {
            return nil
        }
        var files: [String: BundleWriter.File] = [:]
        for element in list {
            guard
                let member = element.members, let name = member["name"]?.string,
                let byteCount = (member["bytes"]?.string).flatMap({ Int64(count: $0) }),
                let sha256 = member["sha256"]?.string, files[name] == nil
            else {
                return nil
            }
            files[name] = BundleWriter.File(byteCount: byteCount, sha256: sha256)
        }
        self.events = events
        self.checkpoints = checkpoints
        self.files = files
    }
}
