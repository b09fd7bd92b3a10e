internal import Encodings
internal import JSON

/// One piece of personal data about one account, kept off the log (RFC 9901, section 4.2).
///
/// The entry carries only the digest of its encoded form; the salt prevents guessing the value from
/// the digest.
package struct Disclosure: Hashable, Sendable {
    /// The names of disclosed values.
    package enum Name: String, Sendable, CaseIterable {
        case caseReference = "case_reference"
        case clientIP = "client_ip"
        case email
        /// `true` or `false`; accompanies every `email` since this name was introduced.
        case emailVerified = "email_verified"
        case externalID = "external_id"
        case phone
        case providerID = "provider_id"
        case reason
        case userAgent = "user_agent"
    }

    /// The number of random bytes of a salt.
    package static let saltBytes = 16

    package let name: Name
    package let value: String

    /// Creates a disclosure.
    package init(_ name: Name, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Returns the unpadded base64url form of `["<salt>","<name>","<value>"]`, which is hashed and
    /// stored.
    package func encoded(salt: [UInt8]) -> [UInt8] {
        precondition(salt.count == Self.saltBytes, "a salt has 128 bits")
        var json: [UInt8] = []
        json.reserveCapacity(64 + value.utf8.count)
        json.append(contentsOf: "[\"".utf8)
        Base64URL.append(salt.span, to: &json)
        json.append(contentsOf: "\",\"".utf8)
        json.append(contentsOf: name.rawValue.utf8)
        json.append(contentsOf: "\",".utf8)
        JSONText.append(value, to: &json)
        json.append(UInt8(ascii: "]"))
        var text: [UInt8] = []
        Base64URL.append(json.span, to: &text)
        return text
    }

    /// Reads the encoded form back; nil for anything that ``encoded(salt:)`` does not write.
    package init?(encoded: some StringProtocol) {
        self.init(encoded: Array(encoded.utf8)[...])
    }

    /// Reads the encoded form back from its bytes; nil for anything else.
    package init?(encoded: ArraySlice<UInt8>) {
        guard let json = Base64URL.decode(encoded.span) else { return nil }
        var parser = JSONTextParser(json)
        guard parser.consume("["), let salt = parser.bareText(), parser.consume(","),
            let nameText = parser.bareText(),
            let name = Name.allCases.first(where: {
                json[nameText].elementsEqual($0.rawValue.utf8)
            }),
            parser.consume(","), let value = parser.text(), parser.consume("]"), parser.isAtEnd,
            Base64URL.decode(json.span.extracting(salt))?.count == Self.saltBytes
        else { return nil }
        self.init(name, value)
    }
}

/// The disclosures of one event about one account, joined by `~` for encryption.
package enum DisclosureList {
    /// Joins encoded disclosures.
    package static func join(_ encoded: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.reduce(0) { $0 + $1.count + 1 })
        for (index, disclosure) in encoded.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "~")) }
            bytes.append(contentsOf: disclosure)
        }
        return bytes
    }

    /// Splits joined disclosures, each with its encoded form; nil when one is malformed.
    package static func split(_ bytes: [UInt8]) -> [(encoded: [UInt8], disclosure: Disclosure)]? {
        var result: [(encoded: [UInt8], disclosure: Disclosure)] = []
        for part in bytes.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false) {
            guard let disclosure = Disclosure(encoded: part) else { return nil }
            result.append((encoded: Array(part), disclosure: disclosure))
        }
        return result
    }
}

extension Email {
    /// The disclosures about it.
    package var disclosures: [Disclosure] {
        let flag = isVerified.map { Disclosure(.emailVerified, $0 ? "true" : "false") }
        return [Disclosure(.email, address)] + [flag].compactMap(\.self)
    }
}

extension AddressKind {
    /// The name under which an address of the kind is disclosed.
    package var disclosure: Disclosure.Name {
        switch self {
        case .email: .email
        case .phone: .phone
        }
    }
}
