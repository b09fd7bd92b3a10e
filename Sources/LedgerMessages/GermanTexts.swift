/// The texts in German.
enum GermanTexts {
    static func pattern(_ template: MessageTemplate) -> MessagePattern {
        switch template {
        case .signInCode:
            code(
                "Anmeldecode", "Geben Sie ihn nur dort ein, wo Sie die Anmeldung begonnen haben")
        case .signUpCode:
            code(
                "Registrierungscode",
                "Geben Sie ihn nur dort ein, wo Sie die Registrierung begonnen haben")
        case .confirmAddress:
            code(
                "Bestätigungscode",
                "Geben Sie ihn nur dort ein, wo Sie diese Adresse angegeben haben")
        case .linkCode:
            code(
                "Code für eine weitere Anmeldemöglichkeit",
                "Geben Sie ihn nur dort ein, wo Sie ihn angefordert haben")
        case .mergeCode:
            code(
                "Code zum Zusammenlegen zweier Konten",
                "Geben Sie ihn nur dort ein, wo Sie Ihre Konten zusammenlegen wollten")
        case .passwordReset:
            code(
                "Code für ein neues Passwort",
                "Geben Sie ihn nur dort ein, wo Sie ein neues Passwort angefordert haben")
        case .secondFactorCode:
            code(
                "zweiter Anmeldecode",
                "Geben Sie ihn nur dort ein, wo Sie die Anmeldung begonnen haben")
        case .addressKnown:
            MessagePattern(
                subject: "Ihr Konto bei {product}",
                body: """
                    Jemand hat bei {product} eine Registrierung mit dieser Adresse begonnen, die schon \
                    zu einem Konto gehört.

                    Waren Sie es selbst, melden Sie sich stattdessen an. Haben Sie das Passwort \
                    vergessen, fordern Sie ein neues an.

                    Diese Seite führt Sie dorthin:
                    {link}

                    Waren Sie es nicht, brauchen Sie nichts zu tun: Es hat sich nichts geändert.

                    """, sms: "")
        default: notice(template)
        }
    }

    private static func notice(_ template: MessageTemplate) -> MessagePattern {
        switch template {
        case .providerLinked:
            notice(
                "Anmeldemöglichkeit hinzugefügt",
                "{provider} wurde als Anmeldemöglichkeit hinzugefügt")
        case .providerUnlinked:
            notice(
                "Anmeldemöglichkeit entfernt", "{provider} wurde als Anmeldemöglichkeit entfernt")
        case .accountsMerged:
            notice("Konten zusammengeführt", "Zwei Konten wurden zusammengeführt")
        case .mergeUndone:
            notice(
                "Zusammenführung rückgängig",
                "Eine Zusammenführung von Konten wurde rückgängig gemacht")
        case .passwordChanged:
            notice(
                "Passwort geändert",
                "Das Passwort wurde geändert, und andere Geräte wurden abgemeldet")
        case .addressChanged:
            notice(
                "Adresse geändert",
                "Die Adresse wurde geändert, andere Geräte wurden abgemeldet. Die frühere kann 7 Tage"
                    + " lang zurückgenommen werden",
                link: "Um sie zurückzunehmen, öffnen Sie diesen Link:")
        case .addressReturned:
            notice(
                "Frühere Adresse zurückgenommen",
                "Die frühere Adresse wurde zurückgenommen, und alle Geräte wurden abgemeldet")
        case .factorAdded:
            notice("Zweiter Faktor hinzugefügt", "Ein zweiter Faktor wurde hinzugefügt")
        case .factorRemoved:
            notice("Zweiter Faktor entfernt", "Ein zweiter Faktor wurde entfernt")
        case .recoveryCodeUsed:
            notice(
                "Wiederherstellungscode verwendet", "Ein Wiederherstellungscode wurde verwendet")
        case .recoveryCodesReplaced:
            notice(
                "Wiederherstellungscodes ersetzt", "Die Wiederherstellungscodes wurden ersetzt")
        case .recoveryCodesRemoved:
            notice(
                "Wiederherstellungscodes entfernt", "Die Wiederherstellungscodes wurden entfernt")
        case .newDevice:
            notice("Neues Gerät", "Ein Gerät hat sich zum ersten Mal angemeldet")
        case .accountDisabled:
            notice(
                "Konto gesperrt", "Das Konto wurde gesperrt, und alle Geräte wurden abgemeldet")
        case .unlinkPlanned:
            notice(
                "Anmeldemöglichkeit wird entfernt",
                "Der Support hat geplant, {provider} als Anmeldemöglichkeit zu entfernen",
                link: "Um das zu verhindern, öffnen Sie diesen Link:")
        default:
            notice(
                "Entfernung geplant",
                "Der Support hat geplant, einen zweiten Faktor zu entfernen",
                link: "Um das zu verhindern, öffnen Sie diesen Link:")
        }
    }

    private static func code(_ name: String, _ place: String) -> MessagePattern {
        let capitalized = name.prefix(1).uppercased() + name.dropFirst()
        return MessagePattern(
            subject: "{product}: \(capitalized)",
            body: """
                \(capitalized) für {product}:

                {code}

                Er ist {minutes} Minuten gültig. \(place), und verraten Sie ihn niemandem.

                Haben Sie ihn nicht angefordert, ignorieren Sie diese Nachricht.

                """,
            sms: "{product}: {code} (\(capitalized)), {minutes} Minuten gültig. Niemandem verraten."
        )
    }

    private static func notice(
        _ subject: String, _ event: String,
        link: String = "Um Ihr Konto anzusehen, öffnen Sie diesen Link:"
    ) -> MessagePattern {
        MessagePattern(
            subject: "{product}: \(subject)",
            body: """
                Ihr Konto bei {product}, {time}:

                \(event).

                Waren Sie es selbst, brauchen Sie nichts zu tun. Wenn nicht, prüfen Sie die \
                Anmeldemöglichkeiten Ihres Kontos, ändern Sie gegebenenfalls das Passwort, und wenden Sie \
                sich an den Support.

                \(link)
                {link}

                """,
            sms: "{product}: \(event), {time}. Waren Sie es nicht, wenden Sie sich an den Support.")
    }
}
