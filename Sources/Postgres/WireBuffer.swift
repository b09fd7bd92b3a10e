import Glibc

/// A growing buffer that parameters are encoded into; owns and frees its memory.
///
/// Reused between calls, so that a batch allocates nothing once the buffer has grown.
@safe struct WireBuffer: ~Copyable {
    private static let initialCapacity = 16 * 1024

    private(set) var start: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity: Int

    init() {
        capacity = Self.initialCapacity
        unsafe start = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        unsafe start.deallocate()
    }

    /// Empties the buffer, and releases memory above `limit` bytes.
    mutating func clear(keeping limit: Int) {
        count = 0
        guard capacity > limit else { return }
        unsafe start.deallocate()
        capacity = Self.initialCapacity
        unsafe start = .allocate(byteCount: capacity, alignment: 16)
    }

    /// Removes the last bytes.
    mutating func removeLast(_ bytes: Int) {
        precondition(bytes <= count, "cannot remove more bytes than the buffer holds")
        count -= bytes
    }

    /// Reserves space for more bytes, doubling the capacity so that appending stays cheap.
    mutating func reserve(_ bytes: Int) {
        guard capacity - count < bytes else { return }
        grow(toHold: count + bytes)
    }

    @inline(never)
    private mutating func grow(toHold bytes: Int) {
        let larger = max(bytes, capacity * 2)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        unsafe moved.copyMemory(from: start, byteCount: count)
        unsafe start.deallocate()
        unsafe start = moved
        capacity = larger
    }

    /// Appends an integer, most significant byte first.
    mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        reserve(MemoryLayout<Value>.size)
        unsafe start.storeBytes(of: value.bigEndian, toByteOffset: count, as: Value.self)
        count += MemoryLayout<Value>.size
    }

    /// Appends bytes unchanged.
    mutating func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { source in
            unsafe append(source)
        }
    }

    /// Appends a text as UTF-8; returns false, and appends nothing, if it contains U+0000.
    mutating func append(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { source in
            let bytes = UnsafeRawBufferPointer(source)
            if let first = bytes.baseAddress, unsafe memchr(first, 0, bytes.count) != nil {
                return false
            }
            unsafe append(bytes)
            return true
        }
    }

    /// Appends bytes unchanged.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.baseAddress else { return }
        reserve(bytes.count)
        unsafe (start + count).copyMemory(from: first, byteCount: bytes.count)
        count += bytes.count
    }
}
