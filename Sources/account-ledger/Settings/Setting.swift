/// An environment variable with its default and meaning: the table that the help prints.
enum Setting: String, CaseIterable, Sendable {
    case databaseURL = "DATABASE_URL"
    case migrateURL = "LEDGER_MIGRATE_URL"
    case listen = "LEDGER_LISTEN"
    case adminListen = "LEDGER_ADMIN_LISTEN"
    case providers = "LEDGER_PROVIDERS"
    case keys = "LEDGER_KEYS"
    case mode = "LEDGER_MODE"
    case trustedProxies = "LEDGER_TRUSTED_PROXIES"
    case corsOrigins = "LEDGER_CORS_ORIGINS"
    case issuer = "LEDGER_ISSUER"
    case audience = "LEDGER_AUDIENCE"
    case accessTokenSeconds = "LEDGER_ACCESS_TOKEN_SECONDS"
    case sessionIdleSeconds = "LEDGER_SESSION_IDLE_SECONDS"
    case sessionLifetimeSeconds = "LEDGER_SESSION_LIFETIME_SECONDS"
    case reauthenticationSeconds = "LEDGER_REAUTHENTICATION_SECONDS"
    case passwordFailureMilliseconds = "LEDGER_PASSWORD_FAILURE_MS"
    case linkLimit = "LEDGER_LINK_LIMIT"
    case linkWindowSeconds = "LEDGER_LINK_WINDOW_SECONDS"
    case signInLimit = "LEDGER_SIGN_IN_LIMIT"
    case eraseNeedsTwo = "LEDGER_ERASE_NEEDS_TWO"
    case queueLimit = "LEDGER_QUEUE_LIMIT"
    case stopSeconds = "LEDGER_STOP_SECONDS"
    case logLevel = "LEDGER_LOG_LEVEL"
    case sealerState = "LEDGER_SEALER_STATE"
    case origin = "LEDGER_ORIGIN"
    case webhookRetrySeconds = "LEDGER_WEBHOOK_RETRY_SECONDS"
    case docs = "LEDGER_DOCS"
    case publicURL = "LEDGER_PUBLIC_URL"
    case staff = "LEDGER_STAFF"
    case smtpURL = "LEDGER_SMTP_URL"
    case smtpUser = "LEDGER_SMTP_USER"
    case smtpPassword = "LEDGER_SMTP_PASSWORD"
    case smtpPasswordFile = "LEDGER_SMTP_PASSWORD_FILE"
    case mailFrom = "LEDGER_MAIL_FROM"
    case smsHookURL = "LEDGER_SMS_HOOK_URL"
    case smsHookSecretFile = "LEDGER_SMS_HOOK_SECRET_FILE"
    case twilioAccount = "LEDGER_TWILIO_ACCOUNT"
    case twilioTokenFile = "LEDGER_TWILIO_TOKEN_FILE"
    case twilioURL = "LEDGER_TWILIO_URL"
    case smsFrom = "LEDGER_SMS_FROM"

    var name: String { rawValue }

    /// The default for an unset or empty variable; nil without a default.
    var defaultText: String? {
        switch self {
        case .databaseURL, .keys, .providers, .trustedProxies, .corsOrigins, .sealerState,
            .publicURL, .staff, .smtpURL, .smtpUser, .smtpPassword, .smtpPasswordFile, .mailFrom,
            .smsHookURL, .smsHookSecretFile, .twilioAccount, .twilioTokenFile, .smsFrom:
            nil
        case .migrateURL: "DATABASE_URL"
        case .listen: "127.0.0.1:8080"
        case .adminListen: "127.0.0.1:9090"
        case .mode: "production"
        case .issuer: "account-ledger:KEY"
        case .audience: "account-ledger"
        case .accessTokenSeconds, .reauthenticationSeconds: "600"
        case .passwordFailureMilliseconds: "500"
        case .sessionIdleSeconds: "2592000"
        case .sessionLifetimeSeconds: "31536000"
        case .linkLimit: "5"
        case .linkWindowSeconds: "3600"
        case .signInLimit: "60"
        case .queueLimit: "1024"
        case .stopSeconds: "10"
        case .logLevel: "info"
        case .origin: "localhost/account-ledger"
        case .docs: "on"
        case .eraseNeedsTwo: "off"
        case .twilioURL: "https://api.twilio.com"
        case .webhookRetrySeconds: "5,30,120,600,3600,10800,21600,43200,86400"
        }
    }

    /// The range of a whole number; nil for other settings.
    var range: ClosedRange<Int64>? {
        let yearSeconds: Int64 = 366 * 86_400
        return switch self {
        case .accessTokenSeconds: 10...3_600
        case .reauthenticationSeconds: 1...yearSeconds
        case .passwordFailureMilliseconds: 0...5_000
        case .sessionIdleSeconds, .sessionLifetimeSeconds: 1...10 * yearSeconds
        // The account's row stores each attempt inside the window.
        case .linkLimit: 1...1_000
        case .linkWindowSeconds: 1...86_400
        case .signInLimit, .queueLimit: 1...1_000_000
        case .stopSeconds: 1...300
        case .databaseURL, .migrateURL, .listen, .adminListen, .providers, .keys, .mode,
            .trustedProxies, .corsOrigins, .issuer, .audience, .eraseNeedsTwo, .logLevel,
            .sealerState, .origin,
            .webhookRetrySeconds, .docs, .publicURL, .staff, .smtpURL, .smtpUser, .smtpPassword,
            .smtpPasswordFile, .mailFrom, .smsHookURL, .smsHookSecretFile, .twilioAccount,
            .twilioTokenFile, .twilioURL, .smsFrom:
            nil
        }
    }

    /// The meaning, in one line.
    var meaning: String {
        switch self {
        case .databaseURL: "libpq URL of the runtime login; required"
        case .migrateURL:
            "libpq URL of the schema owner's login, for migrate; default: DATABASE_URL"
        case .listen: "numeric address and port of the API; port 0 means any free port"
        case .adminListen: "numeric address and port of /metrics, the detailed /readyz and /healthz"
        case .providers: "path of the JSON providers file; required in production"
        case .keys: "directory of signing and encryption keys, mode 0700; serve requires it"
        case .mode: "production, or development: with the built-in identity provider"
        case .trustedProxies:
            "comma-separated addresses and networks whose X-Forwarded-For is trusted"
        case .corsOrigins: "comma-separated origins whose pages may call the API"
        case .issuer: "iss of access tokens; default: derived from the ledger's first token key"
        case .audience: "aud of access tokens"
        case .accessTokenSeconds: "lifetime of an access token"
        case .sessionIdleSeconds: "lifetime of a session without a refresh"
        case .sessionLifetimeSeconds: "maximum lifetime of a session"
        case .reauthenticationSeconds:
            "maximum age of the sign-in for an unlink, a merge and other changes that require a recent one"
        case .passwordFailureMilliseconds:
            "minimum time from the check of a wrong password to its answer, in milliseconds"
        case .linkLimit: "link attempts per account within the window"
        case .linkWindowSeconds: "length of the sliding window of link attempts"
        case .signInLimit: "sign-ins per identity and hour"
        case .eraseNeedsTwo:
            "on, or off: whether an erasure over HTTP needs two administrators, in tenants whose section does not say so"
        case .queueLimit: "requests in flight; further ones are answered 503"
        case .stopSeconds: "time that a stop waits for accepted requests"
        case .logLevel: "debug, info, warning or error"
        case .sealerState: "directory of checkpoint keys and signed checkpoints; enables sealing"
        case .origin: "prefix of the logs' names; required for sealing in production"
        case .webhookRetrySeconds:
            "delays before each retry of a webhook delivery, which then is given up"
        case .docs: "on, or off: without /docs, /openapi.json and /v1/audit/openapi.json"
        case .publicURL:
            "beginning of links in messages and of the addresses of browser flows, without a slash at its end"
        case .staff:
            "path of the JSON file with the identity provider of the staff; enables the console"
        case .smtpURL: "smtps://host:port or, with STARTTLS, smtp://host:port of a mail server"
        case .smtpUser: "user at the mail server"
        case .smtpPassword: "password at the mail server, or:"
        case .smtpPasswordFile: "file with the password at the mail server"
        case .mailFrom: "sender of e-mails: an address, or a name and <address>"
        case .smsHookURL: "URL that gets signed requests to send an SMS"
        case .smsHookSecretFile: "file with the whsec_ secret that signs them"
        case .twilioAccount: "account that sends SMS by Twilio's interface"
        case .twilioTokenFile: "file with the token of that account"
        case .twilioURL: "beginning of the URL of that interface"
        case .smsFrom: "sender of SMS by that interface"
        }
    }
}
