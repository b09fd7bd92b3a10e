internal import Synchronization

/// HMAC keys for each of several purposes, derived by HKDF from every key of a key directory.
///
/// A digest by the key in use is stored with that key's name, and digests by every key are looked up, so that a
/// rotation forgets nothing.
package final class PurposeKeys<Purpose>: Sendable
where Purpose: RawRepresentable<String> & CaseIterable & Hashable & Sendable {
    private struct Keys {
        let id: String
        let keys: [Purpose: HMACKey]
    }

    private let label: String
    /// The keys, the one in use first.
    private let keys: Mutex<[Keys]>

    /// Derives the keys.
    ///
    /// - Parameters:
    ///   - label: The text before a purpose's name in the label of its key.
    ///   - current: The name of the key in use.
    ///   - secrets: Every key by its name.
    package init(label: String, current: String, secrets: [String: SymmetricKey]) {
        self.label = label
        keys = Mutex(Self.derived(label, current, secrets))
    }

    /// Replaces the keys.
    package func use(current: String, secrets: [String: SymmetricKey]) {
        let derived = Self.derived(label, current, secrets)
        keys.withLock { $0 = derived }
    }

    /// Returns the 32-byte MACs of a message by every key, first by the one in use.
    package func macs(of message: [UInt8], _ purpose: Purpose) -> [(key: String, mac: [UInt8])] {
        keys.withLock(\.self).compactMap { keys in
            keys.keys[purpose].map { (key: keys.id, mac: $0.mac(of: message)) }
        }
    }

    private static func derived(
        _ label: String, _ current: String, _ secrets: [String: SymmetricKey]
    ) -> [Keys] {
        let ids = [current] + secrets.keys.filter { $0 != current }.sorted()
        return ids.compactMap { id in
            guard let secret = secrets[id] else { return nil }
            let keys = Purpose.allCases.map {
                ($0, HMACKey(HKDFSHA256.key(from: secret, label: label + $0.rawValue)))
            }
            return Keys(id: id, keys: Dictionary(uniqueKeysWithValues: keys))
        }
    }
}
