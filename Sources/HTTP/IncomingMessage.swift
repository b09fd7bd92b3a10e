import CMicroHTTPD
import Glibc

/// The arguments of a call of the access handler, valid during the call only.
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

    /// Whether the version is HTTP/1.1, the newest that the daemon accepts.
    var isHTTP11: Bool { unsafe String(cString: versionText) != "HTTP/1.0" }

    /// Copies the header fields, without trailers and the daemon's parsed cookies.
    func readHeaders() -> HTTPHeaders {
        var headers = unsafe HTTPHeaders(reserving: cmhd_header_bytes(handle))
        unsafe withUnsafeMutablePointer(to: &headers) { pointer in
            _ = unsafe MHD_get_connection_values_n(
                handle, .HEADER_KIND,
                { context, _, name, nameCount, value, valueCount in
                    guard let context = unsafe context, let name = unsafe name else { return .YES }
                    let bytes = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
                    let isOfCookies = unsafe bytes.elementsEqual(RequestScanner.renamedCookies) {
                        ASCII.lowercased($0) == $1
                    }
                    let text = unsafe UnsafeRawBufferPointer(
                        start: value, count: value == nil ? 0 : valueCount)
                    let headers = unsafe context.assumingMemoryBound(to: HTTPHeaders.self)
                    if isOfCookies {
                        unsafe headers.pointee.append(name: "Cookie".utf8, value: text)
                    } else {
                        unsafe headers.pointee.append(name: bytes, value: text)
                    }
                    return .YES
                }, pointer)
        }
        return headers
    }
}
