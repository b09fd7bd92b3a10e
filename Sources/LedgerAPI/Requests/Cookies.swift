internal import HTTP

/// The cookies of a request (RFC 6265, section 4.2.1).
enum Cookies {
    /// Returns the values of a cookie, of which a browser sends several for several paths.
    static func values(named name: String, in headers: HTTPHeaders) -> [String] {
        headers.all("Cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let text = pair.drop { $0 == " " }
            return text.hasPrefix(name + "=") ? String(text.dropFirst(name.count + 1)) : nil
        }
    }
}
