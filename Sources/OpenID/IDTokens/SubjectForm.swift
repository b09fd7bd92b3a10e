/// The claims that name the person of an ID token.
package enum SubjectForm: Sendable {
    /// `sub`.
    case sub
    /// `tid` and `oid` with a slash between them, for an issuer with tenants, of which each has an issuer of
    /// its own: Microsoft's `sub` differs from app to app.
    ///
    /// The issuers of the policy are then templates with a ``placeholder``; `tenants` are the permitted ones,
    /// nil for any.
    case tenantAndObject(of: Set<String>?)

    /// The part of an issuer that is the tenant.
    package static let placeholder = "{tenantid}"

    /// Returns the issuer of a tenant.
    static func issuer(_ template: String, of tenant: String) -> String {
        template.replacing(placeholder, with: tenant)
    }

    /// Whether a text is a GUID in lower case, so that there is one text for each tenant and object.
    package static func isGUID(_ text: String) -> Bool {
        let lengths = text.utf8.split(
            separator: UInt8(ascii: "-"), omittingEmptySubsequences: false
        ).map(\.count)
        return lengths == [8, 4, 4, 4, 12]
            && text.utf8.allSatisfy { "0123456789abcdef-".utf8.contains($0) }
    }
}
