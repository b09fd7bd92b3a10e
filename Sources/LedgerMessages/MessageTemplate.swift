/// A text that is sent to people, in every language.
package enum MessageTemplate: String, Hashable, Sendable, CaseIterable {
    // Codes that prove the possession of an address.
    case signInCode = "sign_in_code"
    case signUpCode = "sign_up_code"
    case confirmAddress = "confirm_address"
    case linkCode = "link_code"
    case mergeCode = "merge_code"
    case passwordReset = "password_reset"
    case secondFactorCode = "second_factor_code"
    /// A sign-up with an address that an account has: the same mail traffic as a code, without one.
    case addressKnown = "address_known"

    // Notices of what has changed.
    case providerLinked = "provider_linked"
    case providerUnlinked = "provider_unlinked"
    case accountsMerged = "accounts_merged"
    case mergeUndone = "merge_undone"
    case passwordChanged = "password_changed"
    case addressChanged = "address_changed"
    case addressReturned = "address_returned"
    case factorAdded = "factor_added"
    case factorRemoved = "factor_removed"
    case recoveryCodeUsed = "recovery_code_used"
    case recoveryCodesReplaced = "recovery_codes_replaced"
    case recoveryCodesRemoved = "recovery_codes_removed"
    case newDevice = "new_device"
    case accountDisabled = "account_disabled"
    /// Support removes a factor, unless the person stops it.
    case removalPlanned = "removal_planned"
    /// Support unlinks an identity, unless the person stops it.
    case unlinkPlanned = "unlink_planned"

    /// Whether it carries a code.
    package var hasCode: Bool { required.contains(.code) }

    /// The channels that it has a text for: a password is never reset by SMS.
    package var channels: Set<MessageChannel> {
        switch self {
        case .passwordReset, .addressKnown: [.email]
        default: [.email, .sms]
        }
    }

    /// The parts that it has.
    package var parts: [MessagePart.Kind] {
        MessagePart.Kind.allCases.filter { $0 != .sms || channels.contains(.sms) }
    }

    /// The values that it needs.
    package var required: Set<MessagePlaceholder> {
        switch self {
        case .signInCode, .signUpCode, .confirmAddress, .linkCode, .mergeCode, .passwordReset,
            .secondFactorCode:
            [.code, .minutes]
        case .addressKnown: []
        case .providerLinked, .providerUnlinked, .unlinkPlanned: [.provider, .time]
        case .accountsMerged, .mergeUndone, .passwordChanged, .addressChanged,
            .addressReturned, .factorAdded,
            .factorRemoved, .recoveryCodeUsed, .recoveryCodesReplaced, .recoveryCodesRemoved,
            .newDevice, .accountDisabled, .removalPlanned:
            [.time]
        }
    }

    /// The values that it may have: the paragraphs about them are left out otherwise.
    package var optional: Set<MessagePlaceholder> { hasCode ? [] : [.link] }
}

/// A place in a template that is filled for each message.
///
/// None takes a text that a user chose.
package enum MessagePlaceholder: String, Hashable, Sendable, CaseIterable {
    /// The code to type.
    case code
    /// The URL of the account page.
    case link
    /// For how many minutes the code is valid.
    case minutes
    /// The configured name of what the account is for, which every template may have.
    case product
    /// The configured display name of a provider.
    case provider
    /// When something happened.
    case time

    /// Its place in a text, such as `{code}`.
    var place: String { "{\(rawValue)}" }

    /// The most bytes of a value.
    package var bytesMax: Int { self == .link ? 2_048 : 64 }

    /// Checks whether a value has the form of this placeholder.
    package func accepts(_ value: String) -> Bool {
        guard (1...bytesMax).contains(value.utf8.count) else { return false }
        switch self {
        case .code: return value.utf8.allSatisfy { Self.isCodeByte($0) }
        case .link: return MessageLink.isAcceptable(value)
        case .minutes: return value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        case .product: return value.unicodeScalars.allSatisfy { Self.isPrintable($0) }
        case .provider, .time:
            return value.unicodeScalars.allSatisfy { scalar in
                Self.isPrintable(scalar) && scalar != "{" && scalar != "}"
            }
        }
    }

    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }

    /// Letters, digits and the hyphen between groups.
    private static func isCodeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
        default: false
        }
    }
}
