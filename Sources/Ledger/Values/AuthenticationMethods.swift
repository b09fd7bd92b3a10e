/// The methods by which a person authenticated: values of RFC 8176, `fed` for an issuer's word (an ID
/// token), `fed_mfa` for a second factor by that word, and `anon` for the secret of an anonymous account.
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

    /// The values of RFC 8176 that an issuer may state for a second factor.
    ///
    /// They stand for what the person has or is, or for several factors. Passwords, PINs and answers are knowledge, as
    /// the first factor is; a place or a risk is no factor.
    package static let issuersSecondFactors: Set<String> = [
        "face", "fpt", "hwk", "iris", "mca", "mfa", "otp", "retina", "sc", "sms", "swk", "tel",
        "vbm",
    ]

    /// An ID token of an issuer whose own sign-in included a second factor, as these values of its `amr` state.
    package static func federated(withSecondFactor values: [String]) -> AuthenticationMethods {
        federated.adding(values + [severalFactors, issuersSecondFactor])
    }

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
    /// The word, of no registry, for a second factor that was an issuer's: its values are also those of factors here.
    private static let issuersSecondFactor = "fed_mfa"

    /// Whether a second factor was among them.
    package var includesSecondFactor: Bool { words.contains(Self.severalFactors) }

    /// Whether that one was an issuer's, used when the person authenticated there and not when the session was opened.
    var includesIssuersSecondFactor: Bool { words.contains(Self.issuersSecondFactor) }

    /// Whether all words of others are among them.
    package func includes(_ others: AuthenticationMethods) -> Bool {
        Set(others.words).isSubset(of: words)
    }

    /// The methods, without the statement that there was a second factor.
    var withoutSecondFactor: AuthenticationMethods {
        let rest = words.filter { $0 != Self.severalFactors && $0 != Self.issuersSecondFactor }
        return AuthenticationMethods(rest.joined(separator: " ")) ?? self
    }

    /// Returns the methods together with a second factor, which is then the last one that was used.
    package func with(_ factor: FactorKind) -> AuthenticationMethods {
        let method =
            switch factor {
            case .totp, .recoveryCodes: Self.oneTimePassword
            case .phone: Self.sms
            case .passkey: Self.passkey
            }
        return withoutSecondFactor.adding(method.words + [Self.severalFactors])
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
