package import Cryptography
internal import Encodings

/// A key that authenticates rows written by the runtime login: events, heads and decision state.
///
/// Access to the database alone is not enough to compute a MAC that this key accepts (``MAC``).
package struct MACKey: Sendable {
    /// The first four bytes of a key's SHA-256, enough to distinguish the keys of one directory.
    package struct ID: Hashable, Sendable, CustomStringConvertible {
        let bits: UInt32

        init(bits: UInt32) {
            self.bits = bits
        }

        /// Parses eight lower-case hexadecimal digits; nil for anything else.
        package init?(_ text: some StringProtocol) {
            guard text.utf8.count == 8, let bytes = Hex.decode(String(text)), bytes.count == 4
            else { return nil }
            bits = bytes.reduce(0) { $0 << 8 | UInt32($1) }
            guard description == text else { return nil }
        }

        /// The bytes at the start of a MAC.
        package var bytes: [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: bits)
            return bytes
        }

        /// Eight lower-case hexadecimal digits.
        package var description: String { Hex.encode(bytes) }
    }

    package let id: ID
    private let hmac: HMACKey

    /// Creates a key from a secret.
    package init(_ secret: SymmetricKey) {
        hmac = HMACKey(secret)
        id = ID(
            bits: SHA256.hash(secret.copiedBytes()).prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// Returns the HMAC-SHA-256 of a message, truncated to 16 bytes (RFC 2104, section 5).
    package func mac(of message: MACMessage) -> MAC {
        MAC(key: id, hmac.truncatedMAC(of: message.bytes))
    }
}

/// A message authentication code as stored in a column `mac`: the key's id and 16 bytes.
package struct MAC: Sendable {
    /// The number of bytes of the stored form.
    static let byteCount = 20

    package let key: MACKey.ID
    private let value: UInt128

    init(key: MACKey.ID, _ value: UInt128) {
        self.key = key
        self.value = value
    }

    /// Parses the stored form; nil for any other number of bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        key = MACKey.ID(bits: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
        value = bytes.dropFirst(4).reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// The stored form.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(bigEndian: key.bits)
        bytes.append(bigEndian: value)
        return bytes
    }

    /// Compares two MACs in constant time.
    func matches(_ other: MAC) -> Bool {
        key == other.key && value ^ other.value == 0
    }
}

/// The bytes that a MAC authenticates: a purpose followed by self-delimiting fields.
///
/// Two messages of one purpose have the same bytes only if their fields are equal, and messages of
/// different purposes always differ.
package struct MACMessage {
    /// The kind of data; part of the stored format, so a case is never renamed.
    enum Purpose: String {
        case entry
        case head
        case identity
        case session
        case merge
        case apiKey = "api_key"
        case rules
        case address
        case name
        case credential
        case factor
        case erasureRequest = "erasure_request"
    }

    package private(set) var bytes: [UInt8] = []

    init(_ purpose: Purpose, tenant: String) {
        bytes.reserveCapacity(192)
        text(purpose.rawValue)
        text(tenant)
    }

    mutating func text(_ value: String) {
        int8(Int64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func int8(_ value: Int64) {
        bytes.append(bigEndian: value)
    }

    mutating func uuid(_ value: UInt128) {
        bytes.append(bigEndian: value)
    }

    mutating func raw(_ value: [UInt8]) {
        int8(Int64(value.count))
        bytes.append(contentsOf: value)
    }

    mutating func uuids(_ values: [UInt128]) {
        int8(Int64(values.count))
        for value in values { uuid(value) }
    }

    /// Appends whether there is a value, followed by the value.
    mutating func optional<Value>(_ value: Value?, _ add: (inout MACMessage, Value) -> Void) {
        bytes.append(value == nil ? 0 : 1)
        if let value { add(&self, value) }
    }
}

extension [UInt8] {
    /// Appends the bytes of a number, the most significant first.
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        append(addingCapacity: value.bitWidth / 8) { bytes in
            for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
    }
}
