/// The texts in English.
enum EnglishTexts {
    static func pattern(_ template: MessageTemplate) -> MessagePattern {
        switch template {
        case .signInCode:
            code(
                "sign-in code", "Type it only where you began to sign in")
        case .signUpCode:
            code(
                "sign-up code", "Type it only where you began to sign up")
        case .confirmAddress:
            code(
                "confirmation code", "Type it only where you entered this address")
        case .linkCode:
            code(
                "code for adding a way to sign in", "Type it only where you asked for it")
        case .mergeCode:
            code(
                "code for combining two accounts",
                "Type it only where you asked to combine your accounts")
        case .passwordReset:
            code(
                "code for a new password", "Type it only where you asked for a new password")
        case .secondFactorCode:
            code("second sign-in code", "Type it only where you began to sign in")
        case .addressKnown:
            MessagePattern(
                subject: "Your {product} account",
                body: """
                    Someone began a {product} sign-up with this address, which already belongs to an \
                    account.

                    If it was you, sign in instead. If you forgot the password, ask for a new one.

                    This page takes you there:
                    {link}

                    If it was not you, there is nothing to do: nothing has changed.

                    """, sms: "")
        default: notice(template)
        }
    }

    private static func notice(_ template: MessageTemplate) -> MessagePattern {
        switch template {
        case .providerLinked:
            notice("A way to sign in was added", "{provider} was added as a way to sign in")
        case .providerUnlinked:
            notice("A way to sign in was removed", "{provider} was removed as a way to sign in")
        case .accountsMerged: notice("Two accounts were merged", "Two accounts were merged")
        case .mergeUndone: notice("A merge was undone", "A merge of accounts was undone")
        case .passwordChanged:
            notice(
                "Your password was changed",
                "The password was changed, and other devices were signed out")
        case .addressChanged:
            notice(
                "Your address was changed",
                "The address was changed, other devices were signed out, and the former address can be"
                    + " taken back for 7 days", link: "To take it back, open this link:")
        case .addressReturned:
            notice(
                "Your former address was taken back",
                "The former address was taken back, and every device was signed out")
        case .factorAdded: notice("A second factor was added", "A second factor was added")
        case .factorRemoved: notice("A second factor was removed", "A second factor was removed")
        case .recoveryCodeUsed: notice("A recovery code was used", "A recovery code was used")
        case .recoveryCodesReplaced:
            notice("Your recovery codes were replaced", "The recovery codes were replaced")
        case .recoveryCodesRemoved:
            notice("Your recovery codes were removed", "The recovery codes were removed")
        case .newDevice: notice("A new device signed in", "A device signed in for the first time")
        case .accountDisabled:
            notice(
                "Your account was disabled",
                "The account was disabled, and every device was signed out")
        case .unlinkPlanned:
            notice(
                "A way to sign in will be removed",
                "Support planned to remove {provider} as a way to sign in",
                link: "To stop it, open this link:")
        default:
            notice(
                "A removal was planned", "Support planned to remove a second factor",
                link: "To stop it, open this link:")
        }
    }

    private static func code(_ name: String, _ place: String) -> MessagePattern {
        MessagePattern(
            subject: "Your {product} \(name)",
            body: """
                Your {product} \(name):

                {code}

                It is valid for {minutes} minutes. \(place), and share it with no one.

                If you did not ask for it, ignore this message.

                """,
            sms: "{code} is your {product} \(name), valid for {minutes} minutes. Do not share it.")
    }

    private static func notice(
        _ subject: String, _ event: String,
        link: String = "To look at your account, open this link:"
    ) -> MessagePattern {
        MessagePattern(
            subject: "{product}: \(subject.prefix(1).lowercased())\(subject.dropFirst())",
            body: """
                Your {product} account, {time}:

                \(event).

                If it was you, there is nothing to do. If it was not, look at the ways to sign in of \
                your account, change its password if it has one, and contact support.

                \(link)
                {link}

                """, sms: "{product}: \(event), {time}. If it was not you, contact support.")
    }
}
