internal import JSON

/// The claims of a checked ID token.
///
/// All of it is personal data except the times; `description` therefore shows none of it.
package struct IDTokenClaims: Sendable, CustomStringConvertible, CustomReflectable {
    /// The issuer, one of the policy's or of a tenant of it.
    package let issuer: String
    /// The subject at that issuer: 1 to 255 UTF-8 bytes without control characters.
    package let subject: String
    /// The e-mail address: at most 320 bytes without control characters, else dropped.
    package let email: String?
    /// Whether the provider states that it verified the address; nil without the claim.
    package let emailVerified: Bool?
    /// The display name: at most 200 bytes without control characters, else dropped.
    package let name: String?
    /// When the token was issued, in whole seconds since 1970.
    package let issuedAt: Int64
    /// When the token expires, in whole seconds since 1970.
    package let expiresAt: Int64
    /// When the person last proved who they are, in whole seconds since 1970.
    package let authTime: Int64?
    /// Every claim of the token.
    let members: JSONMembers

    /// Returns the texts of a claim that is a list of them or a single one; none for another claim.
    package func texts(_ name: String) -> [String] {
        switch members[name] {
        case .string(let text): [text]
        case .array(let elements): elements.compactMap(\.string)
        default: []
        }
    }

    /// The values of `amr`, by which the person was authenticated (RFC 8176); none unless it is a list of texts.
    package var methods: [String] {
        let elements = members["amr"]?.array ?? []
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : []
    }

    /// A text without personal data.
    package var description: String {
        "IDTokenClaims(redacted)"
    }

    /// A mirror without children, so that reflection shows no personal data.
    package var customMirror: Mirror {
        Mirror(self, children: [:])
    }
}
