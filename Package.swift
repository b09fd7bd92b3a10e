// swift-tools-version: 6.3
import PackageDescription

/// Every upcoming feature that language mode 6 does not switch on by itself, and memory safety that is
/// checked: a pointer can only be touched by an expression that says `unsafe`.
let language: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
]

let warningsAreErrors: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .treatWarning("ExplicitSendable", as: .error),
]

/// Apps build these with compilers of their own, whose new warnings must not break them.
let shipped: Set = ["LedgerClient", "LinkedAccounts", "ledger-example"]
let warningsAreErrorsHere: [SwiftSetting] = [
    .treatAllWarnings(as: .error, .when(platforms: [.linux]))
]

let package = Package(
    name: "AccountLedger",
    // Of the client; everything else runs on Linux.
    platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "LedgerClient", targets: ["LedgerClient"]),
        .executable(name: "account-ledger", targets: ["account-ledger"]),
        .executable(name: "ledger-bench-load", targets: ["ledger-bench-load"]),
    ],
    targets: [
        // Headers of C libraries, nothing else.
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CSpawn"),
        // Not a library, but how the server sets one up that is asked before anything runs.
        .target(name: "CAllocator"),
        // Not a library either, but what libmicrohttpd reads its sockets through.
        .target(name: "CReceive"),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(
            name: "CFIDO2", pkgConfig: "libfido2", providers: [.apt(["libfido2-dev"])]),
        .systemLibrary(name: "COATH", pkgConfig: "liboath", providers: [.apt(["liboath-dev"])]),
        .systemLibrary(name: "CUnistring", providers: [.apt(["libunistring-dev"])]),
        // A C interface of a library in C++.
        .target(
            name: "CPhoneNumber",
            linkerSettings: [.linkedLibrary("phonenumber"), .linkedLibrary("protobuf")]),
        // The files of the pages for people.
        .target(
            name: "CPageAssets",
            exclude: ["account", "bundle", "console", "lib", "proof", "texts", "tsconfig.json"]),
        .systemLibrary(
            name: "CQRencode", pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(
            name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),

        // Libraries that know no word of the ledger.
        .target(name: "Encodings"),
        .target(name: "JSON", dependencies: ["Encodings"]),
        .target(name: "Cryptography", dependencies: ["COpenSSL", "Encodings", "JSON"]),
        .target(name: "OneTimePasswords", dependencies: ["COATH", "Cryptography", "Encodings"]),
        .target(
            name: "Passwords",
            dependencies: ["CArgon2", "CCrypt", "Cryptography", "Encodings", "UnicodeText"]),
        .target(
            name: "Passkeys", dependencies: ["CFIDO2", "Cryptography", "Encodings", "JSON"]),
        .target(name: "QRCodes", dependencies: ["CQRencode"]),
        .target(
            name: "PageAssets", dependencies: ["CPageAssets", "Cryptography", "Encodings"]),
        .target(name: "HTTPClient", dependencies: ["CCurl"]),
        .target(name: "OpenID", dependencies: ["Cryptography", "Encodings", "HTTPClient", "JSON"]),
        .target(
            name: "StandardWebhooks", dependencies: ["Cryptography", "Encodings", "HTTPClient"]),
        .target(name: "BlockingCalls"),
        .target(name: "Postgres", dependencies: ["BlockingCalls", "CLibPQ"]),
        .target(name: "HTTP", dependencies: ["CMicroHTTPD", "CReceive"]),
        .target(name: "CommandLine"),
        // For development: plays Google and Apple.
        .target(
            name: "DevelopmentIdentityProvider",
            dependencies: ["Cryptography", "Encodings", "HTTP", "JSON", "OpenID"]),
        .target(name: "Sockets", dependencies: ["CEpoll"]),
        .target(name: "TransparencyLog", dependencies: ["Cryptography", "Encodings"]),
        .target(name: "DurableFiles"),
        // For tests: starts other programs, servers that answer with fixed bytes, and authenticators.
        .target(name: "ChildProcesses", dependencies: ["CSpawn"]),
        .target(name: "LoopbackServers", dependencies: ["ChildProcesses"]),
        .target(
            name: "SoftwareAuthenticators",
            dependencies: ["ChildProcesses", "Cryptography", "Encodings", "JSON", "Passkeys"],
            exclude: ["Browser"]),
        .target(name: "Archive", dependencies: ["CArchive"]),
        .target(name: "UnicodeText", dependencies: ["CUnistring"]),
        .target(name: "Addresses", dependencies: ["CIDN2", "CPhoneNumber", "UnicodeText"]),

        // The subject.
        .target(name: "Ledger", dependencies: ["Encodings", "JSON"]),
        .target(name: "LedgerMessages", dependencies: ["Ledger"]),
        .target(name: "LedgerWire"),
        .target(
            name: "LedgerExport",
            dependencies: [
                "Archive", "Cryptography", "Encodings", "JSON", "Ledger", "PageAssets",
                "TransparencyLog",
            ],
            resources: [
                .embedInCode("Resources/verify.py"), .embedInCode("Resources/verify.go"),
            ]),
        .target(
            name: "Migrations", path: "migrations",
            resources: [
                .embedInCode("V001_ledger.sql"), .embedInCode("V002_attempts_in_accounts.sql"),
                .embedInCode("V003_projection_tables.sql"), .embedInCode("V004_merkle_log.sql"),
                .embedInCode("V005_principals.sql"), .embedInCode("V006_erasure.sql"),
                .embedInCode("V007_guards_and_keys.sql"), .embedInCode("V008_destruction.sql"),
                .embedInCode("V009_merges.sql"), .embedInCode("V010_webhooks.sql"),
                .embedInCode("V011_conflicts.sql"), .embedInCode("V012_search.sql"),
                .embedInCode("V013_email_verified.sql"), .embedInCode("V014_event_versions.sql"),
                .embedInCode("V015_macs.sql"), .embedInCode("V016_spent_id_tokens.sql"),
                .embedInCode("V017_erasure_versions.sql"), .embedInCode("V018_rebuild_leases.sql"),
                .embedInCode("V019_former_email_leases.sql"),
                .embedInCode("V020_keyed_digests.sql"), .embedInCode("V021_rules.sql"),
                .embedInCode("V022_erase_by_tenant.sql"), .embedInCode("V023_anonymous.sql"),
                .embedInCode("V024_messages.sql"), .embedInCode("V025_addresses.sql"),
                .embedInCode("V026_credentials.sql"), .embedInCode("V027_notices.sql"),
                .embedInCode("V028_index_order.sql"), .embedInCode("V029_disabled_accounts.sql"),
                .embedInCode("V030_factors.sql"), .embedInCode("V031_planned_unlinks.sql"),
                .embedInCode("V032_former_addresses.sql"),
                .embedInCode("V033_console_sessions.sql"),
                .embedInCode("V034_conflict_reviews.sql"), .embedInCode("V035_daily_figures.sql"),
                .embedInCode("V036_erasure_requests.sql"), .embedInCode("V037_names.sql"),
                .embedInCode("V038_identity_names.sql"),
                .embedInCode("V039_claimed_addresses.sql"),
                .embedInCode("V040_event_traces.sql"),
                .embedInCode("V041_tenant_moves.sql"),
                .embedInCode("V042_handed_over_accounts.sql"),
                .embedInCode("V043_statistics.sql"),
                .embedInCode("V044_device_tokens.sql"),
                .embedInCode("functions.sql"), .embedInCode("guard_triggers.sql"),
                .embedInCode("guard_event_triggers.sql"),
                .embedInCode("guard_findings.sql"),
            ]),
        .target(
            name: "LedgerEngine",
            dependencies: [
                "Cryptography", "DurableFiles", "Encodings", "JSON", "Ledger", "LedgerMessages",
                "StandardWebhooks", "TransparencyLog",
            ]),
        .target(
            name: "LedgerPostgres",
            dependencies: [
                "BlockingCalls", "Cryptography", "Encodings", "Ledger", "LedgerEngine",
                "LedgerMessages", "Migrations", "Postgres", "StandardWebhooks", "TransparencyLog",
            ]),
        .target(
            name: "LedgerChannels",
            dependencies: [
                "Encodings", "HTTPClient", "JSON", "Ledger", "LedgerEngine", "LedgerMessages",
                "StandardWebhooks",
            ]),
        .target(
            name: "LedgerAudit",
            dependencies: [
                "Cryptography", "DurableFiles", "JSON", "Ledger", "LedgerEngine", "LedgerExport",
                "LedgerPostgres", "Postgres", "TransparencyLog",
            ]),
        .target(
            name: "LedgerSignIn",
            dependencies: [
                "Addresses", "BlockingCalls", "Cryptography", "Encodings", "HTTPClient", "JSON",
                "Ledger", "LedgerMessages", "OneTimePasswords", "OpenID", "Passkeys", "Passwords",
                "StandardWebhooks",
            ]),
        .target(
            name: "LedgerImport",
            dependencies: ["Encodings", "JSON", "Ledger", "LedgerSignIn", "Passwords"]),
        .target(
            name: "LedgerAPI",
            dependencies: [
                "BlockingCalls", "Cryptography", "Encodings", "HTTP", "JSON", "Ledger",
                "LedgerMessages", "LedgerSignIn", "LedgerWire", "OpenID", "PageAssets", "Passkeys",
                "Passwords", "QRCodes", "TransparencyLog", "UnicodeText",
            ]),
        .executableTarget(
            name: "account-ledger",
            dependencies: [
                "BlockingCalls", "CAllocator", "CommandLine", "Cryptography",
                "DevelopmentIdentityProvider", "Encodings", "HTTP", "HTTPClient", "JSON",
                "Ledger", "LedgerAPI", "LedgerAudit", "LedgerChannels", "LedgerEngine",
                "LedgerExport", "LedgerImport", "LedgerMessages", "LedgerPostgres", "LedgerSignIn",
                "LedgerWire", "OpenID", "Passkeys", "Passwords", "Postgres", "StandardWebhooks",
                "TransparencyLog",
            ],
            // Batches allocate on one thread what another frees: glibc's allocator takes 8 % of the
            // server's time more. Not in debug builds, whose sanitizers bring an allocator.
            linkerSettings: [.linkedLibrary("jemalloc", .when(configuration: .release))]),
        // The load of tools/bench.
        .executableTarget(
            name: "ledger-bench-load", dependencies: ["Passwords", "Sockets"]),
        .target(
            name: "LedgerTestSupport",
            dependencies: [
                "ChildProcesses", "Cryptography", "DevelopmentIdentityProvider", "Encodings",
                "HTTP", "JSON", "Ledger", "LedgerEngine", "LedgerMessages", "LedgerPostgres",
                "LedgerWire", "OneTimePasswords", "OpenID", "Postgres", "TransparencyLog",
            ]),
        // Makes long logs for measurements; never part of what is shipped.
        .executableTarget(
            name: "ledger-load",
            dependencies: [
                "Cryptography", "Encodings", "Ledger", "LedgerEngine", "LedgerPostgres",
                "LedgerTestSupport",
            ]),

        // For apps, on Apple's platforms and on Linux: docs/swift-client.md.
        .target(name: "LedgerClient"),
        .target(
            name: "LinkedAccounts", dependencies: ["LedgerClient"],
            path: "Examples/LinkedAccounts"),
        .executableTarget(
            name: "ledger-example", dependencies: ["LedgerClient"], path: "Examples/CommandLine"),

        // Hostile input: docs/hostile-input.md.
        .executableTarget(
            name: "ledger-fuzz",
            dependencies: [
                "Addresses", "BlockingCalls", "Cryptography", "DevelopmentIdentityProvider",
                "Encodings", "HTTP", "JSON", "Ledger", "LedgerAPI", "LedgerExport", "LedgerImport",
                "LedgerSignIn", "LedgerTestSupport", "OpenID", "Passkeys", "Passwords", "Postgres",
                "Sockets",
                "TransparencyLog",
            ]),

        // One test target per module, the whole from outside, and the rules of the house.
        .testTarget(name: "TidyTests", dependencies: ["ChildProcesses", "Ledger", "LedgerAPI"]),
        .testTarget(name: "BlockingCallsTests", dependencies: ["BlockingCalls"]),
        .testTarget(name: "ChildProcessesTests", dependencies: ["ChildProcesses"]),
        .testTarget(name: "CommandLineTests", dependencies: ["ChildProcesses", "CommandLine"]),
        .testTarget(
            name: "AccountLedgerTests",
            dependencies: [
                "account-ledger", "CommandLine", "JSON", "Ledger", "LedgerEngine", "LedgerImport",
                "LedgerMessages", "LedgerSignIn", "LedgerTestSupport", "Passwords",
            ]),
        .testTarget(name: "EncodingsTests", dependencies: ["Cryptography", "Encodings"]),
        .testTarget(name: "JSONTests", dependencies: ["JSON"]),
        .testTarget(
            name: "CryptographyTests",
            dependencies: ["ChildProcesses", "Cryptography", "Encodings", "JSON"],
            exclude: ["Verifiers"]),
        .testTarget(
            name: "PasswordsTests",
            dependencies: ["ChildProcesses", "Cryptography", "Encodings", "Passwords"]),
        .testTarget(
            name: "PasskeysTests",
            dependencies: [
                "CFIDO2", "Cryptography", "Encodings", "JSON", "Passkeys",
                "SoftwareAuthenticators",
            ],
            resources: [.copy("Fixtures")]),
        .testTarget(
            name: "OpenIDTests",
            dependencies: [
                "Cryptography", "Encodings", "HTTPClient", "JSON", "LoopbackServers", "OpenID",
            ]),
        .testTarget(
            name: "StandardWebhooksTests",
            dependencies: ["HTTPClient", "LoopbackServers", "StandardWebhooks"]),
        .testTarget(
            name: "TransparencyLogTests",
            dependencies: ["ChildProcesses", "Cryptography", "Encodings", "TransparencyLog"],
            exclude: ["Verifiers"]),
        .testTarget(
            name: "LedgerExportTests",
            dependencies: [
                "Archive", "ChildProcesses", "Cryptography", "Encodings", "Ledger", "LedgerExport",
                "TransparencyLog",
            ],
            exclude: ["Page"], resources: [.copy("FormerRelease")]),
        .testTarget(name: "PostgresTests", dependencies: ["LoopbackServers", "Postgres"]),
        .testTarget(
            name: "HTTPTests", dependencies: ["BlockingCalls", "ChildProcesses", "HTTP", "Sockets"]),
        .testTarget(
            name: "BenchLoadTests", dependencies: ["BlockingCalls", "HTTP", "ledger-bench-load"]),
        .testTarget(
            name: "LedgerTests",
            dependencies: ["Cryptography", "Encodings", "Ledger", "LedgerTestSupport"],
            resources: [.copy("FormerRelease"), .copy("Golden")]),
        .testTarget(
            name: "LedgerMessagesTests", dependencies: ["Encodings", "Ledger", "LedgerMessages"],
            resources: [.copy("Golden")]),
        .testTarget(
            name: "LedgerChannelsTests",
            dependencies: [
                "ChildProcesses", "Encodings", "HTTPClient", "Ledger", "LedgerChannels",
                "LedgerEngine", "LedgerMessages", "LoopbackServers", "StandardWebhooks",
            ], exclude: ["Verifiers"]),
        .testTarget(
            name: "LedgerEngineTests",
            dependencies: [
                "Cryptography", "Encodings", "Ledger", "LedgerEngine", "LedgerTestSupport",
                "StandardWebhooks", "TransparencyLog",
            ]),
        .testTarget(
            name: "LedgerPostgresTests",
            dependencies: [
                "BlockingCalls", "Passwords",
                "ChildProcesses", "Cryptography", "Encodings", "Ledger", "LedgerAPI", "LedgerAudit",
                "LedgerEngine", "LedgerExport", "LedgerMessages", "LedgerPostgres", "LedgerSignIn",
                "LedgerTestSupport", "Migrations", "Postgres", "StandardWebhooks",
                "TransparencyLog",
            ], resources: [.copy("FormerRelease")]),
        .testTarget(
            name: "LedgerImportTests",
            dependencies: [
                "Cryptography", "JSON", "Ledger", "LedgerImport", "LedgerSignIn", "Passwords",
            ]),
        .testTarget(name: "DurableFilesTests", dependencies: ["DurableFiles"]),
        .testTarget(name: "QRCodesTests", dependencies: ["QRCodes"]),
        .testTarget(name: "PageAssetsTests", dependencies: ["PageAssets"]),
        .testTarget(name: "OneTimePasswordsTests", dependencies: ["OneTimePasswords"]),
        .testTarget(name: "UnicodeTextTests", dependencies: ["UnicodeText"]),
        .testTarget(name: "AddressesTests", dependencies: ["Addresses", "LedgerTestSupport"]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "BlockingCalls", "Cryptography", "Ledger", "LedgerEngine", "LedgerTestSupport",
                "StandardWebhooks", "TransparencyLog",
            ]),
        .testTarget(
            name: "LedgerSignInTests",
            dependencies: [
                "BlockingCalls", "Cryptography", "Encodings", "HTTP", "Ledger", "LedgerMessages",
                "LedgerSignIn", "LedgerTestSupport", "OpenID", "Passkeys", "Passwords",
            ]),
        .testTarget(
            name: "LedgerAPITests",
            dependencies: [
                "BlockingCalls", "Cryptography", "Encodings", "HTTP", "JSON", "Ledger", "LedgerAPI",
                "LedgerClient", "LedgerMessages", "LedgerSignIn", "LedgerTestSupport",
                "LedgerWire", "OpenID", "Passkeys", "Passwords", "SoftwareAuthenticators",
                "Sockets", "StandardWebhooks", "TransparencyLog",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "BlockingCalls", "ChildProcesses", "Cryptography", "HTTP", "JSON", "Ledger",
                "LedgerAudit", "LedgerEngine", "LedgerMessages", "LedgerPostgres",
                "LedgerTestSupport", "LedgerWire", "LoopbackServers", "Passwords", "Postgres",
                "SoftwareAuthenticators", "Sockets", "TransparencyLog",
            ], exclude: ["Verifiers"]),
        .testTarget(
            name: "PageTests", dependencies: ["LedgerTestSupport"],
            exclude: ["Browser", "Units", "requirements.txt"]),
        .testTarget(
            name: "LedgerClientTests",
            dependencies: [
                "HTTP", "LedgerClient", "LedgerTestSupport", "LinkedAccounts", "LoopbackServers",
                "Passkeys", "SoftwareAuthenticators", "ledger-example",
            ]),
        .testTarget(name: "FuzzTests", dependencies: ["LedgerTestSupport", "ledger-fuzz"]),
    ],
    swiftLanguageModes: [.v6],
    // For `#embed`.
    cLanguageStandard: .c2x,
    cxxLanguageStandard: .cxx17
)

for target in package.targets
where target.type != .system
    && !["CAllocator", "CPageAssets", "CPhoneNumber", "CReceive"].contains(target.name)
{
    target.swiftSettings = (target.swiftSettings ?? []) + language
    target.swiftSettings? +=
        shipped.contains(target.name) ? warningsAreErrorsHere : warningsAreErrors
}
