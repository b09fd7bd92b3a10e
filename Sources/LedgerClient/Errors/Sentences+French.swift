extension Sentences {
    /// The sentences in French.
    static let french = Self(
        failed: "Une erreur s’est produite.",
        passwordTooShort: "Le mot de passe doit comporter au moins {count} caractères.",
        byCode: [
            .invalidRequest: "Vérifiez votre saisie.",
            .unsupportedProvider: "Ce moyen de connexion n’est plus proposé.",
            .cannotUnlinkOnlyProvider: """
            Impossible de dissocier votre seul moyen de connexion. Associez-en d’abord un \
            autre.
            """,
            .invalidProviderToken: "Cette connexion n’est plus valable. Reconnectez-vous.",
            .invalidCode: "Le code est erroné ou a expiré.",
            .invalidPassword: "L’adresse e-mail ou le mot de passe est erroné.",
            .reauthenticationRequired: """
            Votre connexion date d’un certain temps. Reconnectez-vous d’abord.
            """,
            .accountDisabled: """
            Ce compte est désactivé. Adressez-vous à l’assistance de l’application.
            """,
            .addressUnused: """
            Ce numéro n’a pas été utilisé depuis longtemps. Connectez-vous d’une \
            autre manière et confirmez-le à nouveau.
            """,
            .accountNotFound: "Il n’y a pas de compte correspondant.",
            .providerConflict: "Ce compte est déjà utilisé",
            .secondFactorEnrolled: """
            L’autre compte a un second facteur. Connectez-vous à celui-ci et fusionnez \
            les comptes à partir de là. Si les deux comptes en ont un, adressez-vous à \
            l’assistance de l’application.
            """,
            .sameAccount: "Il s’agit déjà du même compte.",
            .mergeTooLarge: "Ces comptes ont trop de comptes associés pour être fusionnés.",
            .weakPassword: """
            Choisissez un autre mot de passe : celui-ci est trop courant ou inutilisable.
            """,
            .invalidAccessToken: "Votre session est terminée. Reconnectez-vous.",
            .invalidRefreshToken: "Votre session est terminée. Reconnectez-vous.",
            .noSession: "Votre session est terminée. Reconnectez-vous.",
            .mergePlanChanged: "Quelque chose a changé depuis l’aperçu. Rien n’a été fusionné.",
            .noAnswer: "Le service est injoignable. Vérifiez votre connexion.",
            .unexpectedAnswer: "Le service est injoignable. Vérifiez votre connexion.",
            .cancelledByPerson: "Vous avez annulé. Rien n’a été modifié.",
            .browserFailed: "Cette connexion est terminée. Recommencez.",
            .authenticatorFailed: "Cette connexion est terminée. Recommencez.",
            .factorRefused: """
            Ce compte ne peut pas avoir ce second facteur, ou ne peut pas s’en \
            passer.
            """,
            .factorNotFound: "Ce second facteur n’existe plus.",
            .providerNotLinked: "Ce compte n’est plus associé.",
            .rateLimited: "Trop de tentatives. Réessayez plus tard.",
            .unavailable: "Le service est occupé. Réessayez dans quelques secondes.",
            .secondFactorRequired: "Confirmez la connexion avec votre second facteur.",
            .gateClosed: "Déverrouillez d’abord l’application.",
            .rulesDiffer: "Le service est occupé. Réessayez dans quelques secondes.",
            .tenantMoved: "Le service est occupé. Réessayez dans quelques secondes.",
        ])
}
