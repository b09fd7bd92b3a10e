internal import COpenSSL

/// A fixed block of memory that is overwritten with zeros before it is freed.
///
/// An array is unsuitable: it copies itself on growth and writes, and frees memory without wiping it.
// Protected by being immutable after `init`: the memory is only read until `deinit`.
@safe package final class WipedBytes: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    /// Copies bytes, whose original is not wiped.
    package convenience init(_ bytes: some Collection<UInt8>) {
        unsafe self.init(byteCount: bytes.count) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Copies bytes and adds a NUL, for C functions that take strings.
    package convenience init(addingNULTo bytes: some Collection<UInt8>) {
        unsafe self.init(byteCount: bytes.count + 1) { unsafe $0.copyBytes(from: bytes) }
    }

    init(byteCount: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        unsafe memory = .allocate(byteCount: byteCount, alignment: 16)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe fill(memory)
    }

    /// Makes the given number of unpredictable bytes.
    package static func random(_ count: Int) -> WipedBytes {
        unsafe WipedBytes(byteCount: count) { unsafe SecureRandom.fill($0) }
    }

    deinit {
        unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
        unsafe memory.deallocate()
    }

    /// The number of bytes.
    package var count: Int { unsafe memory.count }

    /// Passes the bytes to the body, for calls of C functions.
    package func withBytes<Result: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
    {
        unsafe body(UnsafeRawBufferPointer(memory))
    }
}
