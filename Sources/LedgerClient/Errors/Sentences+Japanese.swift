extension Sentences {
    /// The sentences in Japanese.
    static let japanese = Self(
        failed: "問題が発生しました。",
        passwordTooShort: "パスワードは {count} 文字以上にしてください。",
        byCode: [
            .invalidRequest: "入力内容を確認してください。",
            .unsupportedProvider: "このサインイン方法は提供されなくなりました。",
            .cannotUnlinkOnlyProvider: "唯一の認証方法は解除できません。先に別の方法を連携してください。",
            .invalidProviderToken: "このサインインは無効になりました。もう一度サインインしてください。",
            .invalidCode: "コードが間違っているか、期限が切れています。",
            .invalidPassword: "メールアドレスまたはパスワードが間違っています。",
            .reauthenticationRequired: "サインインしてから時間が経っています。先にもう一度サインインしてください。",
            .accountDisabled: "このアカウントは無効になっています。アプリのサポートにお問い合わせください。",
            .addressUnused: "この番号は長い間使われていません。別の方法でサインインして、もう一度確認してください。",
            .accountNotFound: "該当するアカウントがありません。",
            .providerConflict: "このアカウントはすでに使用されています",
            .secondFactorEnrolled: """
            もう一方のアカウントには 2 要素目があります。そちらにサインインして、そこから統合してください。\
            両方のアカウントにある場合は、アプリのサポートにお問い合わせください。
            """,
            .sameAccount: "どちらもすでに同じアカウントです。",
            .mergeTooLarge: "連携が多すぎるため、これらのアカウントは統合できません。",
            .weakPassword: "別のパスワードを選んでください。よく使われているか、使用できないパスワードです。",
            .invalidAccessToken: "セッションが終了しました。もう一度サインインしてください。",
            .invalidRefreshToken: "セッションが終了しました。もう一度サインインしてください。",
            .noSession: "セッションが終了しました。もう一度サインインしてください。",
            .mergePlanChanged: "プレビューのあとに変更がありました。統合は行われていません。",
            .noAnswer: "サービスに接続できません。接続を確認してください。",
            .unexpectedAnswer: "サービスに接続できません。接続を確認してください。",
            .cancelledByPerson: "キャンセルしました。何も変更されていません。",
            .browserFailed: "このサインインは終了しました。最初からやり直してください。",
            .authenticatorFailed: "このサインインは終了しました。最初からやり直してください。",
            .factorRefused: "このアカウントでは、この 2 要素目を設定または削除できません。",
            .factorNotFound: "この 2 要素目はすでにありません。",
            .providerNotLinked: "すでに連携されていません。",
            .rateLimited: "試行回数が多すぎます。しばらくしてからもう一度お試しください。",
            .unavailable: "サービスが混み合っています。数秒後にもう一度お試しください。",
            .secondFactorRequired: "2 要素目でサインインを確認してください。",
            .gateClosed: "先にアプリのロックを解除してください。",
            .rulesDiffer: "サービスが混み合っています。数秒後にもう一度お試しください。",
            .tenantMoved: "サービスが混み合っています。数秒後にもう一度お試しください。",
        ])
}
