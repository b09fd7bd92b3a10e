extension Sentences {
    /// The sentences in German.
    static let german = Self(
        failed: "Etwas ist schiefgegangen.",
        passwordTooShort: "Das Passwort muss mindestens {count} Zeichen haben.",
        byCode: [
            .invalidRequest: "Prüfen Sie Ihre Eingabe.",
            .unsupportedProvider: "Diese Anmeldemöglichkeit wird nicht mehr angeboten.",
            .cannotUnlinkOnlyProvider: """
            Die Verknüpfung mit Ihrer einzigen Anmeldemöglichkeit kann nicht aufgehoben \
            werden. Verknüpfen Sie zuerst eine andere.
            """,
            .invalidProviderToken: "Diese Anmeldung gilt nicht mehr. Melden Sie sich erneut an.",
            .invalidCode: "Der Code ist falsch oder abgelaufen.",
            .invalidPassword: "Die E-Mail-Adresse oder das Passwort ist falsch.",
            .reauthenticationRequired: """
            Ihre Anmeldung liegt einige Zeit zurück. Melden Sie sich zuerst erneut an.
            """,
            .accountDisabled: "Dieses Konto ist gesperrt. Wenden Sie sich an den Support der App.",
            .addressUnused: """
            Diese Nummer wurde lange nicht verwendet. Melden Sie sich auf einem \
            anderen Weg an und bestätigen Sie sie erneut.
            """,
            .accountNotFound: "Dazu gibt es kein Konto.",
            .providerConflict: "Dieses Konto wird bereits verwendet",
            .secondFactorEnrolled: """
            Das andere Konto hat einen zweiten Faktor. Melden Sie sich dort an und \
            führen Sie die Konten von dort aus zusammen. Haben beide Konten einen, \
            wenden Sie sich an den Support der App.
            """,
            .sameAccount: "Beide sind bereits dasselbe Konto.",
            .mergeTooLarge: """
            Diese Konten haben zu viele Verknüpfungen, um zusammengeführt zu werden.
            """,
            .weakPassword: """
            Wählen Sie ein anderes Passwort: Dieses ist zu verbreitet oder nicht \
            verwendbar.
            """,
            .invalidAccessToken: "Ihre Sitzung ist beendet. Melden Sie sich erneut an.",
            .invalidRefreshToken: "Ihre Sitzung ist beendet. Melden Sie sich erneut an.",
            .noSession: "Ihre Sitzung ist beendet. Melden Sie sich erneut an.",
            .mergePlanChanged: """
            Seit der Vorschau hat sich etwas geändert. Nichts wurde zusammengeführt.
            """,
            .noAnswer: "Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung.",
            .unexpectedAnswer: "Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung.",
            .cancelledByPerson: "Sie haben abgebrochen. Nichts wurde geändert.",
            .browserFailed: "Diese Anmeldung ist beendet. Beginnen Sie von vorn.",
            .authenticatorFailed: "Diese Anmeldung ist beendet. Beginnen Sie von vorn.",
            .factorRefused: """
            Dieses Konto kann diesen zweiten Faktor nicht haben oder nicht \
            entbehren.
            """,
            .factorNotFound: "Dieser zweite Faktor ist bereits entfernt.",
            .providerNotLinked: "Dies ist nicht mehr verknüpft.",
            .rateLimited: "Zu viele Versuche. Versuchen Sie es später erneut.",
            .unavailable: """
            Der Dienst ist ausgelastet. Versuchen Sie es in einigen Sekunden erneut.
            """,
            .secondFactorRequired: "Bestätigen Sie die Anmeldung mit Ihrem zweiten Faktor.",
            .gateClosed: "Entsperren Sie zuerst die App.",
            .rulesDiffer: """
            Der Dienst ist ausgelastet. Versuchen Sie es in einigen Sekunden erneut.
            """,
            .tenantMoved: """
            Der Dienst ist ausgelastet. Versuchen Sie es in einigen Sekunden erneut.
            """,
        ])
}
