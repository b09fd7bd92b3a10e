import Glibc

/// The lookup of a server's name in the system's resolver.
enum HostName {
    /// Returns the numeric addresses of a name in order of preference (RFC 6724); at least one.
    ///
    /// - Throws: `.connectionFailed` for an unknown name.
    static func addresses(of name: String) throws(PostgresError) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(name, nil, &hints, &first)
        guard status == 0 else {
            let reason = unsafe gai_strerror(status).map { unsafe String(cString: $0) }
            throw .connectionFailed(
                "the host name \(name) has no address: \(reason ?? "error \(status)")")
        }
        defer { unsafe freeaddrinfo(first) }
        var found: [String] = []
        var next = unsafe first
        while let entry = unsafe next {
            if let text = unsafe numeric(entry.pointee), !found.contains(text) {
                found.append(text)
            }
            unsafe next = entry.pointee.ai_next
        }
        guard !found.isEmpty else {
            throw .connectionFailed("the host name \(name) has no address")
        }
        return found
    }

    private static func numeric(_ entry: addrinfo) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
            let status = unsafe getnameinfo(
                entry.ai_addr, entry.ai_addrlen, text.baseAddress, socklen_t(text.count), nil, 0,
                NI_NUMERICHOST)
            guard status == 0, let start = text.baseAddress else { return nil }
            return unsafe String(cString: start)
        }
    }
}
