internal import Cryptography
internal import Migrations

/// One forward step of the schema, known by its version and by the digest of its text.
package struct Migration: Sendable, Hashable {
    /// Its place among the steps, counted from 1 without a gap.
    package let version: Int
    /// The file it comes from.
    package let name: String
    let sql: String
    let digest: [UInt8]

    /// Describes a step; its text runs inside a transaction with the schema `public` in front.
    package init(version: Int, name: String, sql: [UInt8]) {
        self.version = version
        self.name = name
        self.sql = String(decoding: sql, as: UTF8.self)
        digest = SHA256.hash(sql)
    }

    /// The steps that this binary carries, in order.
    package static let embedded: [Migration] = MigrationScripts.ordered.enumerated().map {
        Migration(version: $0.offset + 1, name: $0.element.file, sql: $0.element.sql)
    }
}
