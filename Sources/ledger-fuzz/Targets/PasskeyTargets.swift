import Encodings
import Passkeys

/// Responses of passkeys: only unmodified assertions and signed statements are accepted.
enum PasskeyTargets {
    static let all = [registration, assertion]

    /// A response in JSON, or an attestation object with the client data of a valid response.
    private static let registration = FuzzTarget(
        "passkey-creation",
        bytes: [Array(ExamplePasskeys.registration.utf8)]
            + [ExamplePasskeys.certified, ExamplePasskeys.extended, ExamplePasskeys.edDSA]
            .compactMap { Base64URL.decode($0) },
        words: words + [
            "fmt", "none", "packed", "fido-u2f", "tpm", "attStmt", "authData", "x5c", "alg", "sig",
            "credProtect", "hmac-secret", "minPinLength", "\u{0}", "\u{18}", "X", "Y", "a", "d",
            "j",
        ]
    ) { input in
        let given = try? RegistrationResponse(parsing: input)
        guard
            let valid = try? RegistrationResponse(parsing: Array(ExamplePasskeys.registration.utf8))
        else { throw Finding("the example can't be read") }
        let object = given?.attestationObject ?? input
        var isAccepted = false
        // The id outside the attestation object must be the one inside, which the input may have changed.
        for id in [given?.credentialID, idInside(object)].compactMap(\.self) {
            guard
                let response = try? RegistrationResponse(
                    credentialID: id, clientDataJSON: given?.clientDataJSON ?? valid.clientDataJSON,
                    attestationObject: object),
                let passkey = try? ceremony(challengeFrom: 0).verify(response)
            else { continue }
            isAccepted = true
            try require(
                (1...PasskeyLimits.credentialIDBytesMax).contains(passkey.credentialID.count),
                "an id of \(passkey.credentialID.count) bytes")
            let key = passkey.publicKey
            try require(
                (try? PasskeyPublicKey(algorithm: key.algorithm, bytes: key.bytes)) == key,
                "an accepted key can't be read again")
            try require(
                passkey.isBackupEligible || !passkey.isBackedUp,
                "a backup of what can't be backed up")
        }
        return isAccepted
    }

    private static let assertion = FuzzTarget(
        "passkey-assertion", corpus: [ExamplePasskeys.assertion], words: words
    ) { input in
        let registered = try? ceremony(challengeFrom: 0).verify(
            RegistrationResponse(parsing: Array(ExamplePasskeys.registration.utf8)))
        guard let registered,
            let valid = try? AssertionResponse(parsing: Array(ExamplePasskeys.assertion.utf8))
        else { throw Finding("the example can't be read") }
        let passkey = StoredPasskey(
            credentialID: registered.credentialID, publicKey: registered.publicKey,
            signatureCount: registered.signatureCount, isBackupEligible: false,
            userHandle: Array(0..<16))
        guard let response = try? AssertionResponse(parsing: input),
            (try? ceremony(challengeFrom: 32).verify(response, of: passkey)) != nil
        else { return false }
        try require(
            response.clientDataJSON == valid.clientDataJSON
                && response.authenticatorData == valid.authenticatorData,
            "a modified assertion is accepted")
        try require(
            response.userHandle == nil || response.userHandle == passkey.userHandle,
            "another user's handle is accepted")
        return true
    }

    private static let words = [
        "null", "{}", "[]", "\"\"", "public-key", "webauthn.get", "webauthn.create", "rawId", "id",
        "response", "userHandle", "crossOrigin", "true", "AAAA", "=", "é",
    ]

    private static func ceremony(challengeFrom first: UInt8) throws -> PasskeyCeremony {
        let party = RelyingParty(
            id: "localhost", name: "Example", origins: [ExamplePasskeys.origin])
        guard let party,
            let ceremony = PasskeyCeremony(
                relyingParty: party, challenge: Array(first..<(first + 32)),
                userVerification: .required)
        else { throw Finding("the example ceremony can't be made") }
        return ceremony
    }

    /// The id where Chromium's attestation objects have it: 32 bytes, after their number.
    private static func idInside(_ object: [UInt8]) -> [UInt8]? {
        guard
            let name = object.indices.first(where: { object[$0...].starts(with: "authData".utf8) })
        else { return nil }
        let start = name + 8 + (object[(name + 8)...].first == 0x59 ? 3 : 2) + 37 + 16
        guard start + 2 <= object.count else { return nil }
        let count = Int(object[start]) << 8 | Int(object[start + 1])
        guard start + 2 + count <= object.count else { return nil }
        return Array(object[(start + 2)..<(start + 2 + count)])
    }
}

/// Responses of Chromium's virtual authenticators, made for the tests of passkeys.
enum ExamplePasskeys {
    static let origin = "http://localhost:35807"

    /// A registration for ES256, without a statement.
    static let registration =
        #"""
        {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"hQBiTNKnTSqu\#
        N4Gw1QVQjmC1vwJJugfR2yrSv6CvPSI","rawId":"hQBiTNKnTSquN4Gw1QVQjmC1vwJJugfR2yrSv6CvPS\#
        I","response":{"attestationObject":"o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVikSZYN5YgO\#
        jGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NFAAAAAQECAwQFBgcIAQIDBAUGBwgAIIUAYkzSp00qrjeBsNUF\#
        UI5gtb8CSboH0dsq0r-grz0ipQECAyYgASFYIFf2kGfyXIzeR-gVLBSQz3dkvSk4ZUAYrLcRuXDeYG0oIlgg\#
        tttxNUIXZz4_SzMhlW6SatkWp-m8rnDFf78t5Ix-Tok","authenticatorData":"SZYN5YgOjGh0NBcPZH\#
        ZgW4_krrmihjLHmVzzuoMdl2NFAAAAAQECAwQFBgcIAQIDBAUGBwgAIIUAYkzSp00qrjeBsNUFUI5gtb8CSb\#
        oH0dsq0r-grz0ipQECAyYgASFYIFf2kGfyXIzeR-gVLBSQz3dkvSk4ZUAYrLcRuXDeYG0oIlggtttxNUIXZz\#
        4_SzMhlW6SatkWp-m8rnDFf78t5Ix-Tok","clientDataJSON":"eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXR\#
        lIiwiY2hhbGxlbmdlIjoiQUFFQ0F3UUZCZ2NJQ1FvTERBME9EeEFSRWhNVUZSWVhHQmthR3h3ZEhoOCIsIm9\#
        yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6MzU4MDciLCJjcm9zc09yaWdpbiI6ZmFsc2V9","publicKey":"\#
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEV_aQZ_JcjN5H6BUsFJDPd2S9KThlQBistxG5cN5gbSi223E1\#
        QhdnPj9LMyGVbpJq2Ran6byucMV_vy3kjH5OiQ","publicKeyAlgorithm":-7,"transports":["inter\#
        nal"]},"type":"public-key"}
        """#

    /// An attestation object with a certificate.
    static let certified =
        #"""
        o2NmbXRmcGFja2VkZ2F0dFN0bXSjY2FsZyZjc2lnWEcwRQIhAIcy8cZsAV1pFI7p8w1pnE72cdKDOxk2Buu1\#
        gpzP8t-nAiAnbHdl8SeoB76uj1lFaXppFekOs63k8mgWzDBVD2A1lmN4NWOBWQHXMIIB0zCCAXqgAwIBAgIB\#
        ATAKBggqhkjOPQQDAjBgMQswCQYDVQQGEwJVUzERMA8GA1UECgwIQ2hyb21pdW0xIjAgBgNVBAsMGUF1dGhl\#
        bnRpY2F0b3IgQXR0ZXN0YXRpb24xGjAYBgNVBAMMEUJhdGNoIENlcnRpZmljYXRlMB4XDTE3MDcxNDAyNDAw\#
        MFoXDTQ2MTEyMTEwMjgyNFowYDELMAkGA1UEBhMCVVMxETAPBgNVBAoMCENocm9taXVtMSIwIAYDVQQLDBlB\#
        dXRoZW50aWNhdG9yIEF0dGVzdGF0aW9uMRowGAYDVQQDDBFCYXRjaCBDZXJ0aWZpY2F0ZTBZMBMGByqGSM49\#
        AgEGCCqGSM49AwEHA0IABI1hfmXJUI5kvMVnOsgqZ5naPBRGaCwljEY__99Y39L6Pmw3i1PXlcSk3_tBme3X\#
        hi8jq68CA7S4kRugVpmU4QGjJTAjMAwGA1UdEwEB_wQCMAAwEwYLKwYBBAGC5RwCAQEEBAMCBSAwCgYIKoZI\#
        zj0EAwIDRwAwRAIgN_pzKhj60E3k4ppJP2JcW9OF2TD9UbbCLVZEmqheXIwCIA5WnJw8CUpVYjp3qLZXiSlG\#
        WZFp6J2uFVmq6irjBkCEaGF1dGhEYXRhWKRJlg3liA6MaHQ0Fw9kdmBbj-SuuaKGMseZXPO6gx2XY0UAAAAB\#
        AQIDBAUGBwgBAgMEBQYHCAAgGGwOYNIqdS7kCH4Zae5cuxJOCEVcJ2hXxoS6equ0vhylAQIDJiABIVggfaCp\#
        tJf3q_mRrnydlpxBSn_l-xecop7j2UnKul-LR6MiWCB3KWvVxivPEP2U2c5U5tpDnAqOnNuwlGjUQEFALkx8\#
        MQ
        """#

    /// An attestation object with a certificate and extensions.
    static let extended =
        #"""
        o2NmbXRmcGFja2VkZ2F0dFN0bXSjY2FsZyZjc2lnWEYwRAIgZ8jo37nMMu3mqcZOnUUHmWHs0a17YAfHdeka\#
        aqkWRCMCIA0fL4cqFQ6mhOndUOsTuBCX6K04FBLizOfRjrwZIWXbY3g1Y4FZAdcwggHTMIIBeqADAgECAgEB\#
        MAoGCCqGSM49BAMCMGAxCzAJBgNVBAYTAlVTMREwDwYDVQQKDAhDaHJvbWl1bTEiMCAGA1UECwwZQXV0aGVu\#
        dGljYXRvciBBdHRlc3RhdGlvbjEaMBgGA1UEAwwRQmF0Y2ggQ2VydGlmaWNhdGUwHhcNMTcwNzE0MDI0MDAw\#
        WhcNNDYxMTIxMTAyODI0WjBgMQswCQYDVQQGEwJVUzERMA8GA1UECgwIQ2hyb21pdW0xIjAgBgNVBAsMGUF1\#
        dGhlbnRpY2F0b3IgQXR0ZXN0YXRpb24xGjAYBgNVBAMMEUJhdGNoIENlcnRpZmljYXRlMFkwEwYHKoZIzj0C\#
        AQYIKoZIzj0DAQcDQgAEjWF-ZclQjmS8xWc6yCpnmdo8FEZoLCWMRj__31jf0vo-bDeLU9eVxKTf-0GZ7deG\#
        LyOrrwIDtLiRG6BWmZThAaMlMCMwDAYDVR0TAQH_BAIwADATBgsrBgEEAYLlHAIBAQQEAwIFIDAKBggqhkjO\#
        PQQDAgNHADBEAiBm-F0UTuKnvYV3AUBussuF1EzNQk9NKUDN2lhE4EtwiQIgdbkHAKmfIO0mwFU5hEdEi1Ox\#
        EN8r8sD9nZCVl2OEpjpoYXV0aERhdGFYwEmWDeWIDoxodDQXD2R2YFuP5K65ooYyx5lc87qDHZdjxQAAAAEB\#
        AgMEBQYHCAECAwQFBgcIACAfD_FnAPRTgzXBVWV-NwHyrSV-dahonWdTN9eqQWA9y6UBAgMmIAEhWCBpOQKz\#
        mkkeHRHKnIfbuX9KKCVYfXnS0hNQQx0BsRcmHCJYIJzMF0dvJX2aC9QDSncJDKG-o8RvUiA_CzeChXL5UgU-\#
        omtjcmVkUHJvdGVjdAJsbWluUGluTGVuZ3RoBA
        """#

    /// An attestation object for Ed25519.
    static let edDSA =
        #"""
        o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViBSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NF\#
        AAAAAQECAwQFBgcIAQIDBAUGBwgAIGmR2YH2mw2ozHYtStzTwqswTIsfIR0IuZ1-TV0HnZnYpAEBAycgBiFY\#
        ILuvuox6OfBz6Q8VqTcVRr7TVneQYXbQ7Un1VFYpUP7f
        """#

    /// An assertion of the registered credential.
    static let assertion =
        #"""
        {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"hQBiTNKnTSqu\#
        N4Gw1QVQjmC1vwJJugfR2yrSv6CvPSI","rawId":"hQBiTNKnTSquN4Gw1QVQjmC1vwJJugfR2yrSv6CvPS\#
        I","response":{"authenticatorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAA\#
        Ag","clientDataJSON":"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiSUNFaUl5UWxKaW\#
        NvS1NvckxDMHVMekF4TWpNME5UWTNPRGs2T3p3OVBqOCIsIm9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6Mz\#
        U4MDciLCJjcm9zc09yaWdpbiI6ZmFsc2V9","signature":"MEUCIQDR_9z7MdqjsyfJ8hYBUcCdL-ux13B\#
        SmeAmzo-VVhKJngIgGT4Bon2gMkLqmqG3PIoeUa1B4zmtDXQZ5Vk-VGOiVlA","userHandle":"AAECAwQF\#
        BgcICQoLDA0ODw"},"type":"public-key"}
        """#
}
