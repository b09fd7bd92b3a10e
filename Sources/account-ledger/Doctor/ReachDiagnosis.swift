import Foundation
import HTTPClient
import Ledger
import LedgerSignIn
import OpenID

/// The checks of `doctor` that connect to the servers of identity providers, of mail and of SMS.
///
/// Nothing is sent on which another server acts: of endpoints that need a client's secret or send an SMS, the
/// connection alone is tried.
enum ReachDiagnosis {
    private typealias Check = @Sendable () async -> Diagnosis

    /// The time for one connection, in seconds.
    private static let secondsMax = 5
    /// The number of checks at one time.
    private static let checksMax = 16

    /// Checks the providers of tenants and the channels of messages, several at a time.
    static func all(
        _ tenants: [TenantID: TenantConfiguration], _ messaging: MessagingSetup
    ) async -> [Diagnosis] {
        var checks: [Check] = []
        for (tenant, configured) in tenants.sorted(by: { $0.key < $1.key }) {
            for (name, provider) in configured.providers.sorted(by: { $0.key < $1.key }) {
                let label = "\(name) of \(tenant)"
                if case .oidc(let settings) = provider.settings {
                    checks.append { await keys(settings.keys, of: label) }
                }
                var hosts: Set<String> = []
                for url in provider.settings.endpoints where hosts.insert(host(of: url)).inserted {
                    checks.append {
                        await endpoint(
                            url, "provider", "\(label): \(host(of: url))",
                            named: "api_url, introspection_url, token_url or attestation.url")
                    }
                }
            }
        }
        let international = tenants.filter { $0.value.localParts == .any }.keys.sorted()
        if let server = messaging.mail?.server {
            checks.append { await mail(server, for: international) }
        }
        switch messaging.sms {
        case .hook(let url, _):
            checks.append { await sms(url, .smsHookURL) }
        case .twilio(let url, _, _, _):
            checks.append { await sms(url, .twilioURL) }
        case nil: break
        }
        return await run(checks)
    }

    /// Runs checks and returns their results in order.
    private static func run(_ checks: [Check]) async -> [Diagnosis] {
        let found = await withTaskGroup(of: (Int, Diagnosis).self) { group in
            var found: [(Int, Diagnosis)] = []
            for (index, check) in checks.enumerated() {
                if index >= checksMax, let next = await group.next() { found.append(next) }
                group.addTask { (index, await check()) }
            }
            for await next in group { found.append(next) }
            return found
        }
        return found.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private static func keys(_ keys: KeySetCache, of label: String) async -> Diagnosis {
        do {
            try await keys.reach()
            return .good("provider", "\(label): its keys can be fetched")
        } catch {
            return .problem(
                "provider", "\(label): no keys: \(error)",
                "check jwks_uri, and this machine's way to it (https_proxy)")
        }
    }

    private static func sms(_ url: String, _ setting: Setting) async -> Diagnosis {
        await endpoint(url, "SMS service", host(of: url), named: setting.name)
    }

    private static func endpoint(
        _ url: String, _ subject: String, _ host: String, named settings: String
    ) async -> Diagnosis {
        do throws(TransferFault) {
            try await HTTPClient.shared.reach(url, within: .seconds(secondsMax))
            return .good(subject, "\(host) can be connected to")
        } catch {
            return .problem(
                subject, "\(host) \(error.words)",
                error.advice("\(settings), and this machine's way to it (https_proxy)"))
        }
    }

    /// Checks the mail server, also for the tenants that take addresses outside ASCII.
    private static func mail(
        _ server: MailServer, for tenants: [TenantID]
    ) async -> Diagnosis {
        let subject = "mail server"
        let client = MailClient(server)
        let limit = Duration.seconds(secondsMax)
        var outcome = await client.reach(within: limit)
        if case .accepted = outcome, !tenants.isEmpty {
            outcome = await client.reach(within: limit, needingSMTPUTF8: true)
        }
        switch outcome {
        case .accepted: return .good(subject, "takes a session; no mail was sent")
        case .noSMTPUTF8:
            let names = tenants.prefix(8).map(\.description).joined(separator: ", ")
            return .warning(
                subject, "takes no addresses outside ASCII, which these tenants take: \(names)",
                "use a server with SMTPUTF8, or set email_local_parts to ascii")
        case .failed(.unauthorized, _):
            return .problem(
                subject, "refuses the user or the password",
                "check \(Setting.smtpUser.name) and \(Setting.smtpPasswordFile.name)")
        case .failed(.transfer(let fault), _):
            return .problem(
                subject, fault.words,
                fault.advice("\(Setting.smtpURL.name), and whether the network lets mail out"))
        case .failed(.busy, let code): return refusal(subject, code)
        case .refused(let code): return refusal(subject, code)
        }
    }

    private static func refusal(_ subject: String, _ code: Int?) -> Diagnosis {
        .problem(
            subject, "refuses the session\(code.map { " with \($0)" } ?? "")",
            "try again, then ask its operator whether it accepts this machine")
    }

    /// Returns the host of an address, and the port that it names.
    private static func host(of address: String) -> String {
        guard let url = URL(string: address), let host = url.host() else { return "its host" }
        return url.port.map { "\(host):\($0)" } ?? host
    }
}

extension TransferFault {
    /// The end of a sentence about the host.
    fileprivate var words: String {
        switch self {
        case .untrusted: "has no certificate that this machine trusts"
        case .timedOut: "does not answer in time"
        case .unacceptableAddress, .unreachable, .tooLarge, .broken, .stopped:
            "can't be connected to"
        }
    }

    /// Returns what to check, for a fault of the connection or of the certificate.
    fileprivate func advice(_ settings: String) -> String {
        self == .untrusted
            ? "check its TLS, and that this machine has its authority (ca-certificates)"
            : "check \(settings)"
    }
}
