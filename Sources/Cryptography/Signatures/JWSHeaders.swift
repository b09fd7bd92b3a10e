import Encodings
internal import Glibc
internal import Synchronization

/// Parses token headers, and caches the most recent ones by their encoded bytes.
///
/// A provider uses the same header in all tokens until it rotates its key.
enum JWSHeaders {
    private static let countMax = 8
    /// Longer headers are not cached, so that untrusted tokens can't fill the memory.
    private static let encodedBytesMax = 512

    private struct Known {
        let encoded: [UInt8]
        let header: CompactJWS.Header
    }

    private static let known = Mutex<[Known]>([])

    /// Returns the header encoded in the first part of a token; nil unless it is valid.
    static func header(encoded: UnsafeBufferPointer<UInt8>) -> CompactJWS.Header? {
        if let header = unsafe remembered(encoded) {
            return header
        }
        guard
            let json = unsafe Base64URL.decode(encoded.span),
            let header = CompactJWS.Header(json: json)
        else {
            return nil
        }
        if encoded.count <= encodedBytesMax {
            let new = unsafe Known(encoded: Array(encoded), header: header)
            known.withLock { known in
                if known.count >= countMax {
                    known.removeFirst()
                }
                known.append(new)
            }
        }
        return header
    }

    private static func remembered(_ encoded: UnsafeBufferPointer<UInt8>) -> CompactJWS.Header? {
        guard let start = encoded.baseAddress else {
            return nil
        }
        return known.withLock { known in
            for candidate in known where candidate.encoded.count == encoded.count {
                let isSame = unsafe candidate.encoded.withUnsafeBytes { bytes in
                    unsafe bytes.baseAddress.map { unsafe memcmp($0, start, bytes.count) } == 0
                }
                if isSame {
                    return candidate.header
                }
            }
            return nil
        }
    }
}
