package import Cryptography
internal import Encodings
internal import JSON

/// The authorization codes of the imitated providers.
package struct AuthorizationCodes: Sendable {
    private static let lifetimeSeconds: Int64 = 60

    private let records: SignedRecords

    /// Makes codes that hold for every process with the key.
    package init(key: SymmetricKey) {
        records = SignedRecords(key: key, domain: "code")
    }

    /// Returns a code for a person.
    func code(
        of provider: String, for request: AuthorizationRequest, _ person: TokenRequest,
        at now: Int64
    ) -> String {
        records.sign { writer in
            writer.member("provider", provider)
            writer.member("client_id", request.client)
            writer.member("redirect_uri", request.redirectURI)
            writer.member("challenge", request.challenge)
            writer.member("nonce", request.nonce)
            writer.member("name", person.name)
            writer.member("email", person.email ?? "")
            writer.member("role", person.role ?? "")
            writer.member("amr", person.methods.joined(separator: " "))
            writer.member("auth_time", "\(now)")
            writer.name("until")
            writer.number(now + Self.lifetimeSeconds)
        }
    }

    /// Returns the person and the nonce of a code that its client presents with the verifier (RFC 6749, section
    /// 4.1.3; RFC 7636, section 4.6); nil for another one.
    func person(
        _ fields: FormFields, at provider: String, now: Int64
    ) -> (person: TokenRequest, nonce: String?)? {
        guard let record = records.read(fields["code"] ?? ""),
            record["provider"]?.string == provider,
            let until = record["until"]?.number, Double(now) < until,
            let challenge = record["challenge"]?.string,
            challenge == Base64URL.encode(SHA256.hash(fields["code_verifier"] ?? "")),
            record["client_id"]?.string == DevelopmentIdentityProvider.audience,
            record["redirect_uri"]?.string == fields["redirect_uri"],
            let name = record["name"]?.string, let email = record["email"]?.string,
            let role = record["role"]?.string, let methods = record["amr"]?.string,
            let time = record["auth_time"]?.string,
            let person = try? TokenRequest(
                FormFields([
                    "name": name, "email": email, "role": role, "amr": methods,
                    "auth_time": provider == DevelopmentIdentityProvider.staffName
                        || !methods.isEmpty ? time : "",
                ]))
        else { return nil }
        return (person, record["nonce"]?.string)
    }
}
