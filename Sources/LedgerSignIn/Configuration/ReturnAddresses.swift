internal import FoundationEssentials

/// The addresses to which browser flows may return, as a tenant lists them.
///
/// An https address is compared exactly. One on the loopback interface may have any port, since an app on a
/// computer listens at a free one (RFC 8252, section 7.3). Any app of a device can claim a scheme of its own, so
/// a page asks the person before a flow that returns to one.
package struct ReturnAddresses: Sendable {
    /// The maximum length of an address, in bytes.
    package static let bytesMax = 512
    private static let loopbackHosts = ["127.0.0.1", "[::1]", "localhost"]

    private let exact: Set<String>
    /// The addresses on the loopback interface, without their ports.
    private let loopback: Set<String>
    private let custom: Set<String>
    /// The name of the app, for the page that asks.
    private let appName: String

    /// Lists no address.
    package init() {
        self.init(exact: [], loopback: [], custom: [], appName: "")
    }

    /// Lists addresses on the loopback interface: the part after the port, such as `/callback`.
    package init(loopbackPath path: String) {
        self.init(
            exact: [], loopback: Set(Self.loopbackHosts.map { "http://\($0)\(path)" }), custom: [],
            appName: "")
    }

    private init(
        exact: Set<String>, loopback: Set<String>, custom: Set<String>, appName: String
    ) {
        self.exact = exact
        self.loopback = loopback
        self.custom = custom
        self.appName = appName
    }

    /// Reads the members `return_to` and `app_name` of a tenant's section.
    ///
    /// - Throws: `ProvidersFileFault`, which names the location.
    init(_ section: StrictObject) throws(ProvidersFileFault) {
        guard section.has("return_to") else {
            guard !section.has("app_name") else {
                throw ProvidersFileFault(section.location(of: "app_name"), "needs return_to")
            }
            self.init()
            return
        }
        var exact: Set<String> = []
        var loopback: Set<String> = []
        var custom: Set<String> = []
        for (index, text) in try section.texts("return_to").enumerated() {
            let location = "\(section.location(of: "return_to"))[\(index)]"
            guard Self.isPlain(text), let url = URL(string: text), url.fragment() == nil,
                url.user() == nil,
                let scheme = url.scheme, scheme == scheme.lowercased()
            else {
                throw ProvidersFileFault(location, "must be a URL without a fragment")
            }
            switch scheme {
            case "https":
                guard url.host()?.isEmpty == false else {
                    throw ProvidersFileFault(location, "must have a host")
                }
                exact.insert(text)
            case "http":
                guard let parts = Self.loopbackParts(text) else {
                    throw ProvidersFileFault(
                        location, "must use https, except on the loopback interface")
                }
                loopback.insert(parts)
            default:
                // RFC 8252, section 7.1: a domain of the app's owner in reverse order.
                guard scheme.contains(".") else {
                    throw ProvidersFileFault(location, "must have a scheme with a dot")
                }
                custom.insert(text)
            }
        }
        guard custom.isEmpty || section.has("app_name") else {
            throw ProvidersFileFault(
                section.location(of: "app_name"), "is missing, and return_to has an app's scheme")
        }
        self.init(
            exact: exact, loopback: loopback, custom: custom,
            appName: try section.optionalText("app_name") ?? "")
    }

    /// Checks whether an address is listed.
    package func permit(_ address: String) -> Bool {
        // Other characters may equal ASCII ones, as the Kelvin sign does.
        guard Self.isPlain(address) else { return false }
        return exact.contains(address) || custom.contains(address)
            || Self.loopbackParts(address).map(loopback.contains) ?? false
    }

    /// The name of the app whose scheme a permitted address has; nil for other addresses.
    package func appToAskAbout(for address: String) -> String? {
        Self.isPlain(address) && custom.contains(address) ? appName : nil
    }

    private static func isPlain(_ address: String) -> Bool {
        address.utf8.count <= bytesMax && address.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Returns an address on the loopback interface without its port; nil for another address.
    private static func loopbackParts(_ address: String) -> String? {
        for host in loopbackHosts {
            let start = "http://\(host)"
            guard address.hasPrefix(start) else { continue }
            var rest = address.dropFirst(start.count)
            if rest.hasPrefix(":") {
                let port = rest.dropFirst().prefix(while: \.isNumber)
                guard let number = UInt16(port), number != 0, "\(number)" == port else {
                    return nil
                }
                rest = rest.dropFirst(1 + port.count)
            }
            guard rest.hasPrefix("/"), !rest.contains("#") else { return nil }
            return start + rest
        }
        return nil
    }
}
