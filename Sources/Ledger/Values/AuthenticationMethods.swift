/// The methods by which a person authenticated: values of RFC 8176, `fed` for an issuer's word (an ID
/// token), and `anon` for the secret of an anonymous account.
///
/// One string of at most 255 characters: distinct words of lower-case letters, digits and `_`,
/// sorted and separated by one space, so that each set of words has one spelling.
package struct AuthenticationMethods: Hashable, Sendable, CustomStringConvertible {
    /// An issuer's ID token identified the person.
    package static let federated = AuthenticationMethods(unchecked: "fed")
    /// A password.
    package static let password = AuthenticationMethods(unchecked: "pwd")
    /// A code that was sent to an e-mail address.
    package static let oneTimePassword = AuthenticationMethods(unchecked: "otp")
    /// A code that was sent to a phone number.
    package static let sms = AuthenticationMethods(unchecked: "sms")
    /// The secret of an anonymous account, which identifies no person.
    package static let anonymous = AuthenticationMethods(unchecked: "anon")

    /// A passkey, used with the presence of the person.
    package static let passkey = AuthenticationMethods(unchecked: "hwk user")
    /// A passkey that also verified the person, by a PIN or a fingerprint.
    package static let verifyingPasskey = AuthenticationMethods(unchecked: "hwk mfa user")

    package let description: String

    /// Reads a string; nil when it breaks the grammar.
    package init?(_ text: String) {
        guard text.utf8.count <= 255 else { return nil }
        var last = ""[...]
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard !word.isEmpty, word.utf8.allSatisfy(isWordByte),
                last.utf8.lexicographicallyPrecedes(word.utf8)
            else { return nil }
            last = word
        }
        description = text
    }

    private init(unchecked text: String) {
        description = text
    }

    /// The word of RFC 8176 for more than one factor.
    private static let severalFactors = "mfa"

    /// Whether a second factor was among them.
    package var includesSecondFactor: Bool { words.contains(Self.severalFactors) }

    /// Whether all words of others are among them.
    package func includes(_ others: AuthenticationMethods) -> Bool {
        Set(others.words).isSubset(of: words)
    }

    /// The methods, without the statement that there was a second factor.
    var withoutSecondFactor: AuthenticationMethods {
        let rest = words.filter { $0 != Self.severalFactors }
        return AuthenticationMethods(rest.joined(separator: " ")) ?? self
    }

    /// Returns the methods together with a second factor.
    package func with(_ factor: FactorKind) -> AuthenticationMethods {
        let method =
            switch factor {
            case .totp, .recoveryCodes: Self.oneTimePassword
            case .phone: Self.sms
            case .passkey: Self.passkey
            }
        return adding(method.words + [Self.severalFactors])
    }

    /// Returns the methods together with others.
    func adding(_ others: [String]) -> AuthenticationMethods {
        let all = Set(words + others).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return AuthenticationMethods(all.joined(separator: " ")) ?? self
    }

    /// The words, sorted.
    package var words: [String] { description.split(separator: " ").map(String.init) }
}

private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
    default: false
    }
}
