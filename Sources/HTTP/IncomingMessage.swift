import CMicroHTTPD
import Glibc

/// The arguments of one call of the access handler; not to be kept longer than the call.
@safe
struct IncomingMessage {
    let handle: OpaquePointer
    let methodText: UnsafePointer<CChar>
    let versionText: UnsafePointer<CChar>

    init?(
        handle: OpaquePointer?, method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?
    ) {
        guard
            let handle = unsafe handle, let method = unsafe method, let version = unsafe version
        else { return nil }
        unsafe self.handle = handle
        unsafe methodText = method
        unsafe versionText = version
    }

    var method: String { unsafe String(cString: methodText) }

    /// True for HTTP/1.1; the daemon lets nothing newer through.
    var isHTTP11: Bool { unsafe String(cString: versionText) != "HTTP/1.0" }

    /// True when method, target and version stand side by side, with one character between them.
    ///
    /// The daemon takes the target as a C string, so that a NUL would hide the rest of it. The
    /// texts are parts of the line as it was read; what is missing between them was hidden.
    func isWholeLine(method: String, target: String) -> Bool {
        let distance = unsafe Int(bitPattern: versionText) - Int(bitPattern: methodText)
        return distance == method.utf8.count + 1 + target.utf8.count + 1
    }

    /// The size of the header section, request line included.
    var headerByteCount: Int { unsafe cmhd_header_bytes(handle) }

    /// Copies the header fields; trailers and what the daemon made of cookies are not among them.
    func readHeaders() -> HeaderSection {
        var section = unsafe HeaderSection(
            start: Int(bitPattern: versionText) + strlen(versionText) + HeaderSection.lineEndCount,
            end: Int(bitPattern: methodText) + headerByteCount)
        unsafe withUnsafeMutablePointer(to: &section) { pointer in
            _ = unsafe MHD_get_connection_values_n(
                handle, .HEADER_KIND,
                { context, _, name, nameCount, value, valueCount in
                    guard let context = unsafe context, let name = unsafe name else { return .YES }
                    unsafe context.assumingMemoryBound(to: HeaderSection.self).pointee.append(
                        name: UnsafeRawBufferPointer(start: name, count: nameCount),
                        value: UnsafeRawBufferPointer(
                            start: value, count: value == nil ? 0 : valueCount)
                    )
                    return .YES
                }, pointer)
        }
        return section
    }
}
