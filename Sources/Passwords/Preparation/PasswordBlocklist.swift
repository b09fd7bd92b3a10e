internal import Cryptography
internal import Foundation

/// Passwords that are too common, compared without regard to case.
///
/// It keeps eight bytes of a digest for each, so a million of them take 8 MB, and one password in 10^13 is
/// refused by mistake.
package struct PasswordBlocklist: Sendable {
    /// The maximum size of a file, in bytes.
    package static let bytesMax = 64 << 20
    /// A blocklist without passwords.
    package static let empty = PasswordBlocklist(lines: [])

    private let fingerprints: [UInt64]
    /// The number of lines that are not empty and that no password can equal, such as those in another
    /// encoding than UTF-8.
    package let ignoredCount: Int

    /// Reads a text file with a password in each line, in any order and case.
    package init(contentsOf path: String) throws(PasswordBlocklistFault) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadable }
        defer { try? file.close() }
        // One byte more than allowed, so that a file of any size is not read to its end.
        guard let data = try? file.read(upToCount: Self.bytesMax + 1) else { throw .unreadable }
        guard data.count <= Self.bytesMax else { throw .tooLarge }
        self.init(lines: Array(data))
    }

    /// Reads lines that end with LF or CR LF.
    package init(lines: [UInt8]) {
        var fingerprints: [UInt64] = []
        var ignoredCount = 0
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !line.isEmpty else { continue }
            if line.count <= Password.bytesMax, let text = String(validating: line, as: UTF8.self),
                let prepared = OpaqueString.prepare(text)
            {
                fingerprints.append(Self.fingerprint(prepared))
            } else {
                ignoredCount += 1
            }
        }
        fingerprints.sort()
        self.fingerprints = fingerprints
        self.ignoredCount = ignoredCount
    }

    /// The number of passwords.
    package var count: Int { fingerprints.count }

    func contains(_ password: PreparedPassword) -> Bool {
        let text = unsafe password.bytes.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        let wanted = Self.fingerprint(text)
        var (low, high) = (0, fingerprints.count)
        while low < high {
            let middle = (low + high) / 2
            if fingerprints[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low < fingerprints.count && fingerprints[low] == wanted
    }

    private static func fingerprint(_ text: String) -> UInt64 {
        SHA256.words(of: Array(text.lowercased().utf8)).0
    }
}

/// The reason why a blocklist can't be read.
package enum PasswordBlocklistFault: Error, Hashable, Sendable {
    case unreadable
    /// It has more than ``PasswordBlocklist/bytesMax`` bytes.
    case tooLarge
}
