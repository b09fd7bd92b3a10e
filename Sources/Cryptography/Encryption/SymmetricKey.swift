/// A 256-bit secret key, wiped from memory when the last copy of the value is released.
///
/// Printing, reflecting or interpolating one shows none of its bytes.
package struct SymmetricKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// Number of bytes in a key.
    package static let byteCount = 32

    private let storage: WipedBytes

    /// Copies a key of exactly 32 bytes; nil for any other length.
    ///
    /// The caller's array is not wiped.
    package init?(bytes: [UInt8]) {
        guard bytes.count == SymmetricKey.byteCount else {
            return nil
        }
        storage = WipedBytes(bytes)
    }

    private init(storage: WipedBytes) {
        self.storage = storage
    }

    /// Creates a new random key.
    package static func generate() -> SymmetricKey {
        SymmetricKey(storage: .random(byteCount))
    }

    /// Returns a copy of the key's bytes, for wrapping the key or deriving another from it.
    ///
    /// The copy is an ordinary array: it is not wiped, so keep it short-lived and never log it.
    package func copiedBytes() -> [UInt8] {
        unsafe storage.withBytes { buffer in
            unsafe [UInt8](buffer)
        }
    }

    /// Passes the key's bytes to the body, for calls of C functions.
    package func withBytes<Result: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
    {
        unsafe storage.withBytes(body)
    }

    /// Whether two values share one memory; different memory may hold equal bytes.
    func isCopy(of other: SymmetricKey) -> Bool { storage === other.storage }

    /// The name of the type, without any key material.
    package var description: String {
        "SymmetricKey(redacted)"
    }

    /// A mirror without children, so that reflection shows no bytes.
    package var customMirror: Mirror {
        Mirror(self, children: [:])
    }
}
