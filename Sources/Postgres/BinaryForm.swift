extension UnsafeRawBufferPointer {
    /// Reads an integer that fills the buffer, most significant byte first.
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type
    ) throws(PostgresError) -> Value {
        guard count == MemoryLayout<Value>.size else {
            throw .unexpectedResult(
                "\(count) bytes where \(MemoryLayout<Value>.size) were expected")
        }
        return Value(bigEndian: unsafe loadUnaligned(as: Value.self))
    }

    /// Reads a text that fills the buffer.
    func text() throws(PostgresError) -> String {
        guard let text = unsafe String(validating: self, as: UTF8.self) else {
            throw .unexpectedResult("a text is not UTF-8")
        }
        return text
    }

    /// Reads a timestamp as microseconds since 1970-01-01 UTC.
    func timestamp() throws(PostgresError) -> Int64 {
        let value = unsafe try integer(Int64.self)
        let (result, overflow) = value.addingReportingOverflow(timestampEpochMicroseconds)
        // The least value represents minus infinity; the greatest, for infinity, overflows.
        guard !overflow, value != .min else {
            throw .unexpectedResult("a timestamp is out of range")
        }
        return result
    }
}
