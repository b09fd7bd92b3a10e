/// An array of C strings terminated by a null pointer; owns and frees them.
@safe final class CStrings {
    private var pointers: [UnsafePointer<CChar>?]

    init(_ strings: [String]) {
        unsafe pointers = []
        for string in strings {
            let bytes = string.utf8CString
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
            _ = unsafe copy.initialize(from: bytes)
            unsafe pointers.append(UnsafePointer(copy.baseAddress))
        }
        unsafe pointers.append(nil)
    }

    deinit {
        for index in unsafe pointers.indices { unsafe pointers[index]?.deallocate() }
    }

    /// Passes the array to a body; it is valid only while the body runs.
    func withPointers<Value>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
    ) -> Value {
        unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
}
