internal import CQRencode

/// A QR code (ISO/IEC 18004) as its modules, without the quiet zone around it.
package struct QRCode: Equatable, Sendable {
    /// The maximum length of a text, in bytes.
    package static let bytesMax = 1_024

    /// The rows from the top, whose modules are true where they are dark.
    package let rows: [[Bool]]

    /// Encodes a text with the error correction level M, which restores 15 % of the code.
    ///
    /// Nil for an empty text and for one that is too long.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.bytesMax else { return nil }
        let code = unsafe bytes.withUnsafeBufferPointer { bytes in
            // Version 0 is the smallest one that holds the text.
            unsafe QRcode_encodeData(Int32(bytes.count), bytes.baseAddress, 0, QR_ECLEVEL_M)
        }
        guard let code = unsafe code else { return nil }
        defer { unsafe QRcode_free(code) }
        let width = Int(unsafe code.pointee.width)
        guard let data = unsafe code.pointee.data else { return nil }
        // The lowest bit of each byte is the module's colour.
        rows = (0..<width).map { row in
            (0..<width).map { column in unsafe data[row * width + column] & 1 == 1 }
        }
    }

    /// The rows as texts of `1` for dark modules and `0`.
    package var rowTexts: [String] {
        rows.map { row in String(row.map { $0 ? "1" : "0" }) }
    }
}
