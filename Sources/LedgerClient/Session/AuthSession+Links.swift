extension AuthSession {
    /// Adds an identity to the account.
    ///
    /// - Parameters:
    ///   - provider: The name of the provider.
    ///   - proof: The proof.
    ///   - key: Makes the command act once, even if it is repeated after a restart; random if nil.
    /// - Returns: The account with the identity.
    /// - Throws: ``LedgerError/Code/providerConflict`` if the identity is in use: another account may have it, which
    ///   ``previewMerge(of:with:keep:)`` can combine with this one, by ``LedgerError/proof`` after a browser flow.
    ///   ``LedgerError/Code/invalidProviderToken``,
    ///   ``LedgerError/Code/reauthenticationRequired``, ``LedgerError/Code/rateLimited``.
    @discardableResult
    public func link(
        _ provider: String, with proof: Proof, key: String? = nil
    ) async throws(LedgerError) -> Profile {
        do throws(LedgerError) {
            return try await changeLinks(
                APICall(
                    route: .link, segments: [provider], body: proof.body, idempotencyKey: key)
            ).0
        } catch {
            throw error.refusing(proof)
        }
    }

    /// Removes an identity from the account.
    ///
    /// If the session began with it, it ends: the state is ``AuthState/expired(_:)`` then.
    ///
    /// - Parameters:
    ///   - provider: The name of the provider.
    ///   - identity: The id of the identity, where the account has several of the provider.
    ///   - key: Makes the command act once, even if it is repeated after a restart; random if nil.
    /// - Returns: The account without the identity.
    /// - Throws: ``LedgerError/Code/cannotUnlinkOnlyProvider``, ``LedgerError/Code/providerNotLinked``,
    ///   ``LedgerError/Code/reauthenticationRequired``.
    @discardableResult
    public func unlink(
        _ provider: String, identity: String? = nil, key: String? = nil
    ) async throws(LedgerError) -> Profile {
        try await changeLinks(
            APICall(
                route: .unlink, segments: [provider],
                query: identity.map { [(name: "identity_id", value: $0)] } ?? [],
                idempotencyKey: key)
        ).0
    }

    /// Adds a password with an address that is confirmed later, at a tenant with that rule.
    ///
    /// Elsewhere send a code with ``sendLinkCode(to:by:agreeingTo:)``, and link with
    /// ``Proof/newPassword(_:code:password:)``.
    ///
    /// - Parameters:
    ///   - email: The address.
    ///   - password: The new password.
    ///   - provider: The name of a provider of type `password`.
    ///   - key: Makes the command act once, even if it is repeated after a restart; random if nil.
    /// - Returns: The account with the password, and the code that confirms the address by a sign-in with
    ///   ``Proof/code(_:_:)``; nil if it could not be sent, or the account has confirmed the address already.
    /// - Throws: ``LedgerError/Code/providerConflict`` if the address is in use, ``LedgerError/Code/weakPassword``,
    ///   ``LedgerError/Code/invalidCode`` where the tenant wants a code first,
    ///   ``LedgerError/Code/reauthenticationRequired``, ``LedgerError/Code/rateLimited``.
    @discardableResult
    public func linkPassword(
        email: String, password: String, at provider: String = "password", key: String? = nil
    ) async throws(LedgerError) -> PasswordLink {
        let (profile, answer) = try await changeLinks(
            APICall(
                route: .link, segments: [provider],
                body: Proof.password(email: email, password: password).body, idempotencyKey: key))
        return PasswordLink(
            profile: profile, confirmation: answer.challengeID.map(SentCode.init(confirming:)))
    }

    private func changeLinks(
        _ call: APICall
    ) async throws(LedgerError) -> (Profile, LinkedProvidersAnswer) {
        try await acting { keeper, shown throws(LedgerError) in
            guard let session = try await keeper.load().session, shown.includes(session) else {
                throw SessionKeeper.noSession
            }
            var profile = session.profile
            let subject = CallSubject.account(profile.userID)
            let answer = try await keeper.send(
                call, as: LinkedProvidersAnswer.self, for: subject)
            do throws(LedgerError) {
                return (try await Self.profile(keeper, subject), answer)
            } catch {
                // The change has happened, also if the account cannot be read now, or the session is over by it.
                profile.linkedProviders = answer.linkedProviders
                profile.identities.removeAll { !answer.linkedProviders.contains($0.provider) }
                await keeper.update(profile)
                return (profile, answer)
            }
        }
    }

    /// Sends a code that links an address, or agrees to a merge.
    ///
    /// - Parameters:
    ///   - address: The e-mail address, or the phone number with its country code.
    ///   - provider: The name of a provider of type `email` or `phone`; for a link also `password`.
    ///   - plan: The plan of a merge to agree to.
    /// - Returns: The challenge of the code.
    /// - Throws: ``LedgerError/Code/invalidRequest`` for a text that is no address, ``LedgerError/Code/rateLimited``.
    public func sendLinkCode(
        to address: String, by provider: String, agreeingTo plan: MergePlan? = nil
    ) async throws(LedgerError) -> SentCode {
        try await acting { keeper, shown throws(LedgerError) in
            var body: [String: BodyValue] = ["address": .text(address)]
            if let plan { body["plan_digest"] = .text(plan.digest) }
            return try await keeper.send(
                APICall(route: .sendAccountCode, segments: [provider], body: body),
                as: SentCode.self, for: shown)
        }
    }

    /// Shows the effects of merging the account of another identity into this one, and changes nothing.
    ///
    /// - Parameters:
    ///   - provider: The name of the other identity's provider.
    ///   - proof: Its proof; that of a refused link, or ``LedgerError/proof``, while it is valid.
    ///   - keep: The side whose identity stays, by provider; this account's without an entry.
    /// - Returns: The plan, for ``merge(_:_:with:keep:key:)``.
    /// - Throws: ``LedgerError/Code/accountNotFound`` if the identity has no account, ``LedgerError/Code/sameAccount``,
    ///   ``LedgerError/Code/secondFactorEnrolled``: ``previewMerge(ofAccountWith:keep:)`` merges that account;
    ///   ``LedgerError/Code/mergeTooLarge``,
    ///   ``LedgerError/Code/reauthenticationRequired``, ``LedgerError/Code/addressUnused``,
    ///   ``LedgerError/Code/rateLimited``.
    public func previewMerge(
        of provider: String, with proof: Proof, keep: [String: MergeSide] = [:]
    ) async throws(LedgerError) -> MergePlan {
        var body = proof.body
        body["provider"] = .text(provider)
        return try await previewMerge(body, keep)
    }

    /// Shows the effects of merging another account, to which the person is signed in as well, into this one, and
    /// changes nothing.
    ///
    /// It is the way to merge an account with a second factor. Both sign-ins must be new, with a second factor where
    /// their account has one.
    ///
    /// - Parameters:
    ///   - accessToken: An access token of the other account: ``accessToken()`` of a session with a store of its own.
    ///   - keep: The side whose identity stays, by provider; this account's without an entry.
    /// - Returns: The plan, for ``merge(_:ofAccountWith:keep:key:)``.
    /// - Throws: ``LedgerError/Code/invalidProviderToken`` for a token that is no longer valid,
    ///   ``LedgerError/Code/reauthenticationRequired`` if either sign-in is too old,
    ///   ``LedgerError/Code/sameAccount``, ``LedgerError/Code/mergeTooLarge``.
    public func previewMerge(
        ofAccountWith accessToken: String, keep: [String: MergeSide] = [:]
    ) async throws(LedgerError) -> MergePlan {
        try await previewMerge(["other_access_token": .text(accessToken)], keep)
    }

    /// Merges the account of another identity into this one, as the plan shows it.
    ///
    /// The person proves the other identity again, after the plan was shown: the nonce of an ID token is the plan's
    /// digest, a code was sent by ``sendLinkCode(to:by:agreeingTo:)``, and a browser flow was begun with the plan.
    ///
    /// - Parameters:
    ///   - plan: The plan that the person agreed to.
    ///   - provider: The name of the other identity's provider.
    ///   - proof: The new proof.
    ///   - keep: The same choices as in the preview.
    ///   - key: Makes the command act once, even if it is repeated after a restart; random if nil.
    /// - Returns: The merge.
    /// - Throws: ``LedgerError/Code/mergePlanChanged``: show a new preview; otherwise as the preview.
    @discardableResult
    public func merge(
        _ plan: MergePlan, _ provider: String, with proof: Proof,
        keep: [String: MergeSide] = [:], key: String? = nil
    ) async throws(LedgerError) -> Merge {
        var body = proof.body
        body["provider"] = .text(provider)
        // The ledger expects the digest there.
        body["nonce"] = nil
        return try await merge(plan, body, keep, key)
    }

    /// Merges another account, to which the person is signed in as well, into this one, as the plan shows it.
    ///
    /// The sessions of the other account end. If this account had no second factor and gets one, its sessions end, too:
    /// the state is ``AuthState/expired(_:)`` then, and the person signs in again.
    ///
    /// - Parameters:
    ///   - plan: The plan that the person agreed to.
    ///   - accessToken: An access token of the other account, also that of the preview.
    ///   - keep: The same choices as in the preview.
    ///   - key: Makes the command act once, even if it is repeated after a restart; random if nil.
    /// - Returns: The merge.
    /// - Throws: ``LedgerError/Code/mergePlanChanged``: show a new preview; otherwise as the preview.
    @discardableResult
    public func merge(
        _ plan: MergePlan, ofAccountWith accessToken: String,
        keep: [String: MergeSide] = [:], key: String? = nil
    ) async throws(LedgerError) -> Merge {
        try await merge(plan, ["other_access_token": .text(accessToken)], keep, key)
    }

    private func previewMerge(
        _ proof: [String: BodyValue], _ keep: [String: MergeSide]
    ) async throws(LedgerError) -> MergePlan {
        let body = Self.merge(proof, keep)
        return try await acting { keeper, shown throws(LedgerError) in
            try await keeper.send(
                APICall(route: .previewMerge, body: body), as: MergePlan.self, for: shown)
        }
    }

    private func merge(
        _ plan: MergePlan, _ proof: [String: BodyValue], _ keep: [String: MergeSide],
        _ key: String?
    ) async throws(LedgerError) -> Merge {
        var body = Self.merge(proof, keep)
        body["plan_digest"] = .text(plan.digest)
        return try await acting { [body] keeper, shown throws(LedgerError) in
            let merge = try await keeper.send(
                APICall(route: .merge, body: body, idempotencyKey: key), as: Merge.self,
                for: shown)
            _ = try? await Self.profile(keeper, shown)
            return merge
        }
    }

    private nonisolated static func merge(
        _ proof: [String: BodyValue], _ keep: [String: MergeSide]
    ) -> [String: BodyValue] {
        var body = proof
        if !keep.isEmpty { body["keep"] = .texts(keep.mapValues(\.rawValue)) }
        return body
    }
}
