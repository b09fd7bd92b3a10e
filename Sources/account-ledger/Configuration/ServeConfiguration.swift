import CommandLine
import HTTP
import Ledger
import LedgerAPI
import LedgerEngine

/// The validated configuration of `serve` from the environment.
struct ServeConfiguration: Sendable {
    let databaseURL: String
    let listen: ListenAddress
    let adminListen: ListenAddress
    /// Path of the providers file; nil in development with its built-in providers.
    let providersPath: String?
    let keys: KeyDirectory
    let mode: LedgerOpened.Mode
    let trustedProxies: TrustedProxies
    let allowedOrigins: AllowedOrigins
    /// Nil when it is derived from the listening address.
    let issuer: String?
    let audience: String
    let accessTokenSeconds: Int64
    let passwordFailureTime: Duration
    let limits: PolicyLimits
    let queueLimit: Int
    let stopGrace: Duration
    let logLevel: LogLevel
    /// The directory of checkpoint keys and signed checkpoints; nil in a process that does not seal.
    let sealerDirectory: SealerDirectory?
    /// The delays before each retry of a webhook delivery, in seconds.
    let webhookRetries: [Int64]
    /// Whether the API's documents and their page are served.
    let servesDocuments: Bool
    /// Path of the file of the staff's identity provider; nil without one.
    let staffPath: String?
    /// The channels of messages.
    let messaging: MessagingSetup

    /// Reads the configuration from the environment.
    ///
    /// - Throws: `Fault` with one line that names the invalid variable.
    init(_ environment: Environment) throws(Fault) {
        databaseURL = try environment.databaseURL
        let address = "a numeric address and a port such as 127.0.0.1:8080 or [::1]:8080"
        listen = try environment.value(.listen, wants: address, ListenAddress.init)
        adminListen = try environment.value(.adminListen, wants: address, ListenAddress.init)
        mode = try environment.mode
        keys = KeyDirectory(path: try environment.required(.keys))
        providersPath = environment.given(.providers)
        logLevel = try environment.value(
            .logLevel, wants: "debug, info, warning or error", LogLevel.init(rawValue:))
        guard let proxies = TrustedProxies(environment.given(.trustedProxies) ?? "") else {
            throw Fault(
                "\(Setting.trustedProxies.name) must be comma-separated addresses and networks")
        }
        trustedProxies = proxies
        allowedOrigins = try environment.allowedOrigins
        issuer = try environment.issuer
        audience = try environment.value(.audience, wants: "1 to 255 printable characters") {
            Self.isPlainText($0) ? $0 : nil
        }
        accessTokenSeconds = try environment.number(.accessTokenSeconds)
        passwordFailureTime = .milliseconds(
            try environment.number(.passwordFailureMilliseconds))
        limits = try PolicyLimits(environment)
        queueLimit = Int(try environment.number(.queueLimit))
        stopGrace = .seconds(try environment.number(.stopSeconds))
        sealerDirectory = try SealingSetup.directory(environment, mode: mode)
        webhookRetries = try environment.value(
            .webhookRetrySeconds,
            wants: "1 to 32 comma-separated numbers of seconds, each at most a week"
        ) { text in
            let delays = text.split(separator: ",", omittingEmptySubsequences: false)
                .map { Int64($0).flatMap { (0...604_800).contains($0) ? $0 : nil } }
            return (1...32).contains(delays.count) && !delays.contains(nil)
                ? delays.compactMap(\.self) : nil
        }
        servesDocuments = try environment.value(.docs, wants: "on or off") {
            ["on": true, "off": false][$0]
        }
        staffPath = environment.given(.staff)
        messaging = try MessagingSetup(environment, mode: mode)
        try checkMode()
    }

    private func checkMode() throws(Fault) {
        switch mode {
        case .production:
            guard providersPath != nil else {
                throw Fault("\(Setting.providers.name) is not set: \(Setting.providers.meaning)")
            }
        case .development:
            for (setting, address) in [(Setting.listen, listen), (.adminListen, adminListen)] {
                guard address.isLoopback else {
                    throw Fault(
                        "\(setting.name) is not a loopback address, which the development mode"
                            + " of \(Setting.mode.name) requires")
                }
            }
        }
    }

    /// Checks whether a text is printable ASCII without spaces and short enough for tokens and log lines.
    static func isPlainText(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension Environment {
    /// The mode, which determines the keys and the use of the development identity provider.
    var mode: LedgerOpened.Mode {
        get throws(Fault) {
            try value(
                .mode, wants: "production or development", LedgerOpened.Mode.init(rawValue:))
        }
    }

    /// The configured `iss` of access tokens: a URL without a trailing slash.
    fileprivate var issuer: String? {
        get throws(Fault) {
            guard given(.issuer) != nil else { return nil }
            let wanted = "a URL of at most 255 characters without a trailing slash"
            let issuer: String = try value(.issuer, wants: wanted) { text in
                guard ServeConfiguration.isPlainText(text), !text.hasSuffix("/") else { return nil }
                return text.hasPrefix("https://") || text.hasPrefix("http://") ? text : nil
            }
            return issuer
        }
    }

    /// The allowed origins as browsers send them: scheme, host and port in lower case (RFC 6454, section 6.2).
    fileprivate var allowedOrigins: AllowedOrigins {
        get throws(Fault) {
            guard let origins = AllowedOrigins(given(.corsOrigins) ?? "") else {
                throw Fault(
                    "\(Setting.corsOrigins.name) must be at most \(AllowedOrigins.countMax) origins"
                        + " such as https://app.example.com, comma-separated")
            }
            return origins
        }
    }
}
