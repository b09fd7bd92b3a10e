extension Connection {
    /// Streams the rows of a `COPY ... TO STDOUT (FORMAT binary)`, passing each to the body.
    ///
    /// Memory stays at one row, and only the values that the body asks for are decoded.
    ///
    /// - Throws: as ``copyOut(_:_:)``, or `.unexpectedResult` for malformed data.
    package func copyRows(_ sql: String, _ body: (CopyRow) throws -> Void) throws {
        let row = CopyRow()
        var messageCount = 0
        try copyOut(sql) { message in
            try unsafe message.withUnsafeBytes { bytes in
                var start = 0
                if messageCount == 0 {
                    start = try unsafe Self.headerLength(bytes)
                    // The header may precede the first row or be a message of its own.
                    if start == bytes.count { messageCount += 1; return }
                }
                messageCount += 1
                guard bytes.count - start >= 2 else {
                    throw PostgresError.unexpectedResult("a copied row ends early")
                }
                let count = unsafe Int(
                    Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int16.self)))
                guard count >= 0 else { return }
                try unsafe row.expose(bytes, fieldsFrom: start + 2, count: count, body)
            }
        }
    }

    private static let signature: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]

    private static func headerLength(
        _ bytes: UnsafeRawBufferPointer
    ) throws(PostgresError) -> Int {
        let fixed = signature.count + 8
        guard bytes.count >= fixed, unsafe bytes.starts(with: signature) else {
            throw .unexpectedResult("a copy is not in binary form")
        }
        let extensionLength = unsafe Int(
            UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: fixed - 4, as: UInt32.self)))
        guard extensionLength <= bytes.count - fixed else {
            throw .unexpectedResult("a copy's header ends early")
        }
        return fixed + extensionLength
    }
}
