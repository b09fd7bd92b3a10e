package import Cryptography

/// Keys that are mixed into password hashes (RFC 9106's secret value K).
///
/// Without the key a stolen table can't be searched for passwords. The id of the key is in the hash, so a
/// former key is needed as long as hashes name it.
package struct PasswordPeppers: Sendable, Equatable {
    /// No keys.
    package static let none = PasswordPeppers()

    private let keys: [String: SymmetricKey]
    /// The id of the key for new hashes; nil for hashes without a key.
    package let current: String?

    /// Names the keys by their ids, of 1 to 64 letters, digits, `-` and `_`.
    ///
    /// Nil for another id, and when there is no current key among them; without a current key, new hashes
    /// have none.
    package init?(keys: [String: SymmetricKey], current: String?) {
        guard keys.keys.allSatisfy({ Self.isID($0[...]) }), current.map({ keys[$0] != nil }) ?? true
        else { return nil }
        self.keys = keys
        self.current = current
    }

    private init() {
        keys = [:]
        current = nil
    }

    /// The ids of all keys.
    package var ids: Set<String> { Set(keys.keys) }

    /// Whether the ids are the same, and the current one: an id names one key.
    package static func == (a: PasswordPeppers, b: PasswordPeppers) -> Bool {
        a.ids == b.ids && a.current == b.current
    }

    func key(_ id: String?) throws(HashingFault) -> SymmetricKey? {
        guard let id else { return nil }
        guard let key = keys[id] else { throw .unknownPepper(id) }
        return key
    }

    static func isID(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
