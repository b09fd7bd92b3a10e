internal import FoundationEssentials

extension StrictObject {
    /// Returns the URL of another server: `https`, or `http` on the loopback interface.
    func requiredAddress(_ name: String) throws(ProvidersFileFault) -> String {
        let text = try requiredText(name)
        let location = location(of: name)
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty,
            url.user() == nil, url.fragment() == nil
        else {
            throw ProvidersFileFault(location, "must be an https URL")
        }
        switch url.scheme?.lowercased() {
        case "https": return text
        case "http" where url.isOnLoopback: return text
        case "http":
            throw ProvidersFileFault(location, "must use https, except on the loopback interface")
        default: throw ProvidersFileFault(location, "must be an https URL")
        }
    }
}

extension URL {
    /// Whether the host is this machine.
    var isOnLoopback: Bool {
        ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host()?.lowercased())
    }
}
