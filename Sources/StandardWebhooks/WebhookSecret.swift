internal import Cryptography
import Encodings

/// The symmetric secret that signs the requests to a webhook endpoint, as in standard-webhooks.
package struct WebhookSecret: Hashable, Sendable {
    /// The accepted numbers of bytes of a secret.
    package static let byteCounts = 24...64
    private static let byteCount = 32
    private static let prefix = "whsec_"

    package let bytes: [UInt8]

    /// Wraps 24 to 64 bytes; nil for any other count.
    package init?(bytes: [UInt8]) {
        guard Self.byteCounts.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Parses the form of ``text``; nil when it is malformed.
    package init?(text: String) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64.decode(text.dropFirst(Self.prefix.count))
        else { return nil }
        self.init(bytes: bytes)
    }

    private init(random bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a new random secret.
    package static func generate() -> WebhookSecret {
        WebhookSecret(random: SecureRandom.bytes(byteCount))
    }

    /// `whsec_` and the bytes in base64: the form that receivers' libraries expect.
    package var text: String { Self.prefix + Base64.encode(bytes) }

    /// Returns one signature for the header `webhook-signature`.
    ///
    /// - Parameters:
    ///   - id: The header `webhook-id`.
    ///   - seconds: The header `webhook-timestamp`.
    ///   - body: The bytes of the body.
    /// - Returns: `v1,` and the signature in base64.
    package func signature(id: String, seconds: Int64, body: [UInt8]) -> String {
        let mac = HMACSHA256.mac(key: bytes, Array("\(id).\(seconds).".utf8) + body)
        return "v1," + Base64.encode(mac)
    }
}
