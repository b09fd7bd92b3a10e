internal import HTTP
internal import Ledger

/// The side whose identity of a provider stays, from the `keep` member of a merge's body.
enum MergeChoices {
    static let member = OptionalChoices(
        name: "keep",
        about: "The account whose identity of a provider stays, by provider; `survivor` by default",
        values: Side.allCases.map(\.rawValue))

    /// Returns the providers of which the absorbed account's identity stays.
    ///
    /// - Throws: 400 unless it maps providers to `survivor` or `absorbed`.
    static func keepsAbsorbed(_ body: RequestBody) throws(APIError) -> Set<ProviderName> {
        var kept: Set<ProviderName> = []
        for (name, side) in try body.choices(member) {
            guard let provider = ProviderName(name), let side = Side(rawValue: side) else {
                throw .invalidRequest(
                    RequestFlaw(
                        "keep must map each provider to survivor or absorbed", at: .field("keep"))
                )
            }
            if side == .absorbed { kept.insert(provider) }
        }
        return kept
    }

    enum Side: String, CaseIterable {
        case survivor
        case absorbed
    }
}

/// The body of a merge's preview by an account holder.
enum MergePreviewBody: BodyForm {
    static let name = "MergePreviewRequest"
    static let members: [any BodyMember] =
        [OptionalText.mergedProvider] + .credential
        + [OptionalText.otherAccessToken, MergeChoices.member]
}

/// The body of a merge by an account holder.
enum MergeBody: BodyForm {
    static let name = "MergeRequest"
    static let planDigest = RequiredText.planDigest
    static let members: [any BodyMember] =
        [OptionalText.mergedProvider] + .credentialForPlan
        + [OptionalText.otherAccessToken, planDigest, MergeChoices.member]
}

/// The body of a merge's preview by support.
enum SupportMergePreviewBody: BodyForm {
    static let name = "SupportMergePreviewRequest"
    static let absorb = RequiredText(
        name: "absorb", bytesMax: 36, about: "The account to merge into the one of the path",
        example: ExampleValue.otherAccount)
    static let members: [any BodyMember] = [
        absorb, MergeChoices.member, SupportMergeBody.request, ReasonHeader.member,
    ]
}

/// The body of a merge by support.
enum SupportMergeBody: BodyForm {
    static let name = "SupportMergeRequest"
    static let planDigest = RequiredText.planDigest
    static let request = OptionalText(
        name: "merge_request", bytesMax: 256,
        about: "The `merge_request` of the answer to another person, to confirm it",
        example: ExampleValue.undoRequest)
    static let members: [any BodyMember] = [
        SupportMergePreviewBody.absorb, MergeChoices.member, CaseReference.member, planDigest,
        request, ReasonHeader.member,
    ]
}

extension OptionalText {
    static let mergedProvider = OptionalText(
        name: "provider", bytesMax: 255,
        about: "The configured name of the provider; required without `other_access_token`",
        example: ExampleValue.provider, isInExample: true)
    static let otherAccessToken = OptionalText(
        name: "other_access_token", bytesMax: RequestBody.accessTokenBytesMax,
        about: "An access token of the account to merge, in place of a provider and its proof;"
            + " the only proof for an account with a second factor",
        example: ExampleValue.accessToken)
    static let planDigest = OptionalText(
        name: "plan_digest", bytesMax: RequestBody.nonceBytesMax,
        about: "The `plan_digest` of a merge preview", example: ExampleValue.planDigest)
}

extension RequiredText {
    static let provider = RequiredText(
        name: "provider", bytesMax: 255, about: "The configured name of the provider",
        example: ExampleValue.provider)
    static let planDigest = RequiredText(
        name: "plan_digest", bytesMax: RequestBody.nonceBytesMax,
        about: "The `plan_digest` of the preview", example: ExampleValue.planDigest)
}

extension [APIError] {
    /// The refusals of any merge.
    static let ofMerge: [APIError] = [
        .refused(.sameAccount), .refused(.tooMuchToMerge), .refused(.accountDisabled),
    ]
    /// The refusals of a merge by an account holder.
    static let ofMergeByHolder: [APIError] =
        ofCredential + ofMerge + [
            .refused(.invalidPassword), .refused(.accountNotFound), .refused(.addressUnused),
            .refused(.reauthenticationRequired), .refused(.secondFactorEnrolled),
            .refused(.onlyProvider),
        ]
    /// The refusals of a merge by support.
    static let ofMergeBySupport: [APIError] =
        ofMerge + [
            .refused(.onlyProvider), .refused(.unknownAccount), .refused(.accountErased),
            .refused(.accountMerged(into: AccountID(bits: 0))), .faulted(.rulesDiffer),
        ]
    /// The refusals of undoing a merge.
    static let ofUnmerge: [APIError] = [
        .refused(.unknownMerge), .refused(.mergeSuperseded(.laterMerge)),
        .refused(.tooMuchToMerge), .refused(.accountDisabled), .refused(.mergePlanChanged),
        .refused(.secondPersonRequired), .faulted(.rulesDiffer),
    ]
}
