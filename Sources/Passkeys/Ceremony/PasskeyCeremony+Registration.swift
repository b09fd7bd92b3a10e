extension PasskeyCeremony {
    /// Verifies a registration: WebAuthn level 3, section 7.1.
    ///
    /// ``PasskeyAttestation`` describes the accepted attestations. The caller checks that no account has
    /// the credential yet.
    ///
    /// - Parameter response: the browser's response.
    /// - Returns: the new credential.
    /// - Throws: the first fault.
    package func verify(_ response: RegistrationResponse) throws(PasskeyFault) -> NewPasskey {
        let clientData = try ClientData(response.clientDataJSON)
        try clientData.check(.create, in: self)
        let object = try AttestationObject(response.attestationObject)
        let data = try AuthenticatorData(object.authenticatorData)
        try check(data)
        guard let credential = data.credential else { throw .missingCredential }
        guard credential.id == response.credentialID else { throw .wrongCredential }
        let attestation = try object.attestation(of: credential)
        let library = try FIDOCredential.decoded(
            data, of: credential.algorithm, for: relyingParty.id, clientDataHash: clientData.hash)
        let publicKey = try PasskeyPublicKey(
            algorithm: credential.algorithm, bytes: library.publicKey())
        if attestation != .none {
            try library.verify(object, attestation)
        }
        return NewPasskey(
            credentialID: credential.id, publicKey: publicKey,
            signatureCount: data.signatureCount, aaguid: credential.aaguid,
            transports: response.transports, attestation: attestation,
            isUserVerified: data.flags.contains(.userVerified),
            isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp))
    }
}
