extension Sentences {
    /// The sentences in Spanish.
    static let spanish = Self(
        failed: "Algo ha fallado.",
        passwordTooShort: "La contraseña debe tener al menos {count} caracteres.",
        byCode: [
            .invalidRequest: "Compruebe los datos introducidos.",
            .unsupportedProvider: "Esta forma de iniciar sesión ya no se ofrece.",
            .cannotUnlinkOnlyProvider: """
            No se puede desvincular su único método de autenticación. Vincule otro \
            primero.
            """,
            .invalidProviderToken: """
            Este inicio de sesión ya no es válido. Vuelva a iniciar sesión.
            """,
            .invalidCode: "El código es incorrecto o ha caducado.",
            .invalidPassword: "La dirección de correo o la contraseña es incorrecta.",
            .reauthenticationRequired: """
            Inició sesión hace un tiempo. Vuelva a iniciar sesión primero.
            """,
            .accountDisabled: """
            Esta cuenta está desactivada. Consulte al servicio de asistencia de la \
            aplicación.
            """,
            .addressUnused: """
            Este número no se ha usado durante mucho tiempo. Inicie sesión de otra \
            forma y confírmelo de nuevo.
            """,
            .accountNotFound: "No hay ninguna cuenta para esto.",
            .providerConflict: "Esta cuenta ya está en uso",
            .secondFactorEnrolled: """
            La otra cuenta tiene un segundo factor. Inicie sesión en ella y combine \
            las cuentas desde allí. Si ambas cuentas tienen uno, consulte al servicio \
            de asistencia de la aplicación.
            """,
            .sameAccount: "Ambas son ya la misma cuenta.",
            .mergeTooLarge: "Estas cuentas tienen demasiadas cuentas vinculadas para combinarse.",
            .weakPassword: "Elija otra contraseña: esta es demasiado común o no se puede usar.",
            .invalidAccessToken: "Su sesión ha terminado. Vuelva a iniciar sesión.",
            .invalidRefreshToken: "Su sesión ha terminado. Vuelva a iniciar sesión.",
            .noSession: "Su sesión ha terminado. Vuelva a iniciar sesión.",
            .mergePlanChanged: "Algo ha cambiado desde la vista previa. No se ha combinado nada.",
            .noAnswer: "No se puede acceder al servicio. Compruebe su conexión.",
            .unexpectedAnswer: "No se puede acceder al servicio. Compruebe su conexión.",
            .cancelledByPerson: "Ha cancelado. No se ha cambiado nada.",
            .browserFailed: "Este inicio de sesión ha terminado. Empiece de nuevo.",
            .authenticatorFailed: "Este inicio de sesión ha terminado. Empiece de nuevo.",
            .factorRefused: """
            Esta cuenta no puede tener este segundo factor o no puede prescindir \
            de él.
            """,
            .factorNotFound: "Este segundo factor ya no existe.",
            .providerNotLinked: "Ya no está vinculada.",
            .rateLimited: "Demasiados intentos. Vuelva a intentarlo más tarde.",
            .unavailable: "El servicio está ocupado. Vuelva a intentarlo en unos segundos.",
            .secondFactorRequired: "Confirme el inicio de sesión con su segundo factor.",
            .gateClosed: "Desbloquee primero la aplicación.",
            .rulesDiffer: "El servicio está ocupado. Vuelva a intentarlo en unos segundos.",
            .tenantMoved: "El servicio está ocupado. Vuelva a intentarlo en unos segundos.",
        ])
}
