internal import JSON
internal import Ledger
package import StandardWebhooks

/// A service of the operator that decides by an attestation whether a client may open an anonymous account.
///
/// The client has the attestation from its platform or a captcha; the ledger knows no form of it. It is part of the
/// signed request (Standard Webhooks) to the service, and is neither logged nor stored.
package struct AttestationHook: Sendable {
    /// The status by which the service refuses an attestation.
    private static let refusal = 403

    private let api: ProviderAPI
    private let secret: WebhookSecret

    /// The address of the service.
    var url: String { api.base }

    /// Describes the service at a URL, `https` or of this machine, with the secret that signs the requests.
    package init(url: String, secret: WebhookSecret) {
        api = ProviderAPI(base: url)
        self.secret = secret
    }

    /// Reads the member `attestation` of a provider's section.
    init(_ object: StrictObject) throws(ProvidersFileFault) {
        try object.allow(["url", "secret"])
        let url = try object.requiredAddress("url")
        guard let secret = WebhookSecret(text: try object.requiredText("secret")) else {
            throw ProvidersFileFault(
                object.location(of: "secret"), "must be whsec_ and 24 to 64 bytes in base64")
        }
        self.init(url: url, secret: secret)
    }

    /// Asks the service.
    ///
    /// - Throws: `invalid` for a missing or refused attestation; `unavailable` for any other answer, without one in
    ///   time, and beside too many other calls.
    func check(
        _ attestation: String?, of client: CodeClient, at provider: ProviderName,
        in tenant: TenantID, at now: Timestamp
    ) async throws(Credential.Flaw) {
        guard let attestation else { throw .invalid }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", "attestation.anonymous")
            writer.member("timestamp", now.description)
            writer.name("data")
            writer.object { writer in
                writer.member("tenant", tenant.description)
                writer.member("provider", provider.description)
                writer.member("attestation", attestation)
            }
        }
        let id = EntityID<Self>(at: now, random: client.newID())
        let request = WebhookRequest(
            url: url, id: id.description, seconds: now.seconds, body: writer.bytes,
            secrets: [secret])
        let answer = try await api.exchange("", fields: request.fields, body: request.body)
        switch answer.status {
        case 200...299: return
        case Self.refusal: throw .invalid
        default: throw .unavailable
        }
    }
}
