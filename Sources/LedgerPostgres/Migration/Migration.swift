internal import Cryptography
internal import Migrations

/// One forward step of the schema, identified by its version and the digest of its text.
package struct Migration: Sendable, Hashable {
    /// The number of the step, from 1 without gaps.
    package let version: Int
    /// The name of its file.
    package let name: String
    let sql: String
    /// The SHA-256 of its text.
    package let digest: [UInt8]

    /// Creates a step whose text runs inside a transaction with `public` first in the search path.
    package init(version: Int, name: String, sql: [UInt8]) {
        self.version = version
        self.name = name
        self.sql = String(decoding: sql, as: UTF8.self)
        digest = SHA256.hash(sql)
    }

    /// The steps embedded in this binary, in order.
    package static let embedded: [Migration] = MigrationScripts.ordered.enumerated().map {
        Migration(version: $0.offset + 1, name: $0.element.file, sql: $0.element.sql)
    }
}
