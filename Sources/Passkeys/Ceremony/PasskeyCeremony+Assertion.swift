extension PasskeyCeremony {
    /// Verifies an assertion, which is a sign-in with a passkey: WebAuthn level 3, section 7.2.
    ///
    /// A counter that went back is reported and not refused: it may be a copied authenticator, and it may
    /// be one that counts wrongly.
    ///
    /// - Parameters:
    ///   - response: the browser's response.
    ///   - passkey: the credential that the caller has found by the response's id.
    /// - Returns: the new counter and the other facts of this use.
    /// - Throws: the first fault.
    package func verify(
        _ response: AssertionResponse, of passkey: StoredPasskey
    ) throws(PasskeyFault) -> PasskeyUse {
        guard response.credentialID == passkey.credentialID else { throw .wrongCredential }
        guard response.userHandle == nil || response.userHandle == passkey.userHandle else {
            throw .wrongUserHandle
        }
        let clientData = try ClientData(response.clientDataJSON)
        try clientData.check(.get, in: self)
        let data = try AuthenticatorData(response.authenticatorData)
        guard data.credential == nil else { throw .malformedAuthenticatorData }
        try check(data)
        guard data.flags.contains(.backupEligible) == passkey.isBackupEligible else {
            throw .changedBackupEligibility
        }
        let library = try FIDOAssertion.decoded(
            data, for: relyingParty.id, clientDataHash: clientData.hash,
            signature: response.signature)
        try library.verify(by: passkey.publicKey)
        return PasskeyUse(
            signatureCount: data.signatureCount,
            hasCounterGoneBack: (data.signatureCount > 0 || passkey.signatureCount > 0)
                && data.signatureCount <= passkey.signatureCount,
            isUserVerified: data.flags.contains(.userVerified),
            isBackedUp: data.flags.contains(.backedUp))
    }
}
