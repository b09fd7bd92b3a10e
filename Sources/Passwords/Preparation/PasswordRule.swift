/// The rule for new passwords: a minimum length and a blocklist, and nothing about their composition.
package struct PasswordRule: Sendable {
    /// The minimum lengths that a tenant may set.
    package static let lengthMinRange = 6...64
    /// The default minimum of a password that is the only factor, NIST SP 800-63B-4 section 3.1.1.2.
    package static let lengthMinAlone = 15

    /// The minimum length in code points.
    package let lengthMin: Int
    private let blocklist: PasswordBlocklist

    /// Creates a rule; nil when the minimum is outside of its range.
    package init?(lengthMin: Int, blocklist: PasswordBlocklist = .empty) {
        guard Self.lengthMinRange.contains(lengthMin) else { return nil }
        self.lengthMin = lengthMin
        self.blocklist = blocklist
    }

    /// Checks a new password and returns the form that is hashed.
    package func check(_ password: Password) throws(PasswordRefusal) -> PreparedPassword {
        guard let prepared = password.prepared else { throw .disallowedCharacter }
        guard prepared.length >= lengthMin else { throw .tooShort(min: lengthMin) }
        guard !blocklist.contains(prepared) else { throw .blocklisted }
        return prepared
    }
}
