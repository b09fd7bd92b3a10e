extension Sentences {
    /// The sentences in traditional Chinese.
    static let traditionalChinese = Self(
        failed: "發生問題。",
        passwordTooShort: "密碼至少需要 {count} 個字元。",
        byCode: [
            .invalidRequest: "請檢查您輸入的內容。",
            .unsupportedProvider: "已不再提供此登入方式。",
            .cannotUnlinkOnlyProvider: "無法解除連結您唯一的驗證方式。請先連結其他方式。",
            .invalidProviderToken: "這次登入已失效。請重新登入。",
            .invalidCode: "驗證碼錯誤或已過期。",
            .invalidPassword: "電子郵件地址或密碼錯誤。",
            .reauthenticationRequired: "您登入已有一段時間。請先重新登入。",
            .accountDisabled: "此帳號已停用。請洽詢應用程式的客服。",
            .addressUnused: "此號碼已長時間未使用。請以其他方式登入，再重新驗證。",
            .accountNotFound: "沒有對應的帳號。",
            .providerConflict: "此帳號已被使用",
            .secondFactorEnrolled: """
            另一個帳號設有第二驗證因素。請登入該帳號，並從那裡合併。\
            若兩個帳號都設有，請洽詢應用程式的客服。
            """,
            .sameAccount: "兩者已經是同一個帳號。",
            .mergeTooLarge: "這些帳號的連結過多，無法合併。",
            .weakPassword: "請選擇其他密碼：此密碼太常見或無法使用。",
            .invalidAccessToken: "您的工作階段已結束。請重新登入。",
            .invalidRefreshToken: "您的工作階段已結束。請重新登入。",
            .noSession: "您的工作階段已結束。請重新登入。",
            .mergePlanChanged: "預覽之後有變更。沒有合併任何內容。",
            .noAnswer: "無法連線到服務。請檢查您的網路連線。",
            .unexpectedAnswer: "無法連線到服務。請檢查您的網路連線。",
            .cancelledByPerson: "您已取消。沒有任何變更。",
            .browserFailed: "這次登入已結束。請重新開始。",
            .authenticatorFailed: "這次登入已結束。請重新開始。",
            .factorRefused: "此帳號無法設定此第二驗證因素，或不能沒有它。",
            .factorNotFound: "此第二驗證因素已不存在。",
            .providerNotLinked: "此項目已不再連結。",
            .rateLimited: "嘗試次數過多。請稍後再試。",
            .unavailable: "服務忙碌中，請在幾秒後再試一次。",
            .secondFactorRequired: "請使用您的第二驗證因素確認登入。",
            .gateClosed: "請先解鎖應用程式。",
            .rulesDiffer: "服務忙碌中，請在幾秒後再試一次。",
            .tenantMoved: "服務忙碌中，請在幾秒後再試一次。",
        ])
}
