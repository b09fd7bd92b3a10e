/// The form of the development identity provider: the name and further claims of the token.
struct TokenRequest: Sendable {
    private static let nameCharactersMax = 100
    private static let emailBytesMax = 320
    private static let audienceBytesMax = 255
    private static let roleBytesMax = 100
    private static let nonceBytesMax = 1_024
    private static let methodsBytesMax = 100

    let name: String
    /// Nil for an empty field: a token without an e-mail.
    let email: String?
    let audience: String
    let nonce: String?
    let authTime: Int64?
    /// The methods that the token states (`amr`), separated by spaces in the form.
    let methods: [String]
    /// The role of a person of the staff; nil for none.
    let role: String?

    /// The reason why a field is invalid.
    struct Refused: Error {
        let text: String
    }

    init(_ fields: FormFields) throws(Refused) {
        guard let name = fields["name"], !name.isEmpty else {
            throw Refused(text: "name is required")
        }
        guard name.count <= Self.nameCharactersMax, Self.isPrintable(name) else {
            throw Refused(
                text:
                    "name must have at most \(Self.nameCharactersMax) characters and no control characters"
            )
        }
        self.name = name
        let email = fields["email"] ?? "\(Self.localPart(name))@example.com"
        self.email = email.isEmpty ? nil : try Self.checked(email, "email", Self.emailBytesMax)
        let audience = fields["audience"] ?? ""
        self.audience =
            audience.isEmpty
            ? DevelopmentIdentityProvider.audience
            : try Self.checked(audience, "audience", Self.audienceBytesMax)
        let nonce = fields["nonce"] ?? ""
        self.nonce = nonce.isEmpty ? nil : try Self.checked(nonce, "nonce", Self.nonceBytesMax)
        let role = fields["role"] ?? ""
        self.role =
            role.isEmpty || role == "none" ? nil : try Self.checked(role, "role", Self.roleBytesMax)
        methods = try Self.checked(fields["amr"] ?? "", "amr", Self.methodsBytesMax)
            .split(separator: " ").map(String.init)
        if let text = fields["auth_time"], !text.isEmpty {
            guard let seconds = Int64(text), (0...253_402_300_799).contains(seconds) else {
                throw Refused(text: "auth_time must be in seconds since 1970")
            }
            authTime = seconds
        } else {
            authTime = nil
        }
    }

    private static func checked(
        _ text: String, _ field: String, _ bytesMax: Int
    ) throws(Refused) -> String {
        guard text.utf8.count <= bytesMax, isPrintable(text) else {
            throw Refused(
                text: "\(field) must have at most \(bytesMax) bytes and no control characters")
        }
        return text
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Returns the name as the local part of an address: `ada.lovelace` for `Ada Lovelace`.
    private static func localPart(_ name: String) -> String {
        let words = name.lowercased().split { !$0.isLetter && !$0.isNumber && !"-_".contains($0) }
        return words.isEmpty ? "somebody" : words.joined(separator: ".")
    }
}
