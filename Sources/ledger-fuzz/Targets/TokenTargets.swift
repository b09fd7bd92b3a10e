import Cryptography
import DevelopmentIdentityProvider
import Foundation
import JSON
import Ledger
import LedgerAPI
import OpenID

/// Tokens of every kind, checked with their keys: only unmodified ones may be accepted.
enum TokenTargets {
    static func all(_ service: FuzzService) -> [FuzzTarget] {
        [
            idToken(service), idTokenClaims(service), accessToken(service), refreshToken(service),
            apiKey(service), keySet(service), keyFiles(service),
        ]
    }

    private static let words = [
        ".", "..", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9", "eyJjcml0IjpbXX0", "=", "+", "/",
        "AA", "-_", #""alg":"none""#, #""kid":null"#,
    ]
    private static let claimWords = [
        #""iss":"#, #""aud":["app"]"#, #""sub":"#, #""exp":1e15"#, #""iat":-1"#, #""nbf":0"#,
        #""nonce":"#, #""azp":"app""#, "\\u0000", "null", "[]", "{}", #""auth_time":"#, "true",
        #""email_verified":"true""#, "253402300800", ",",
    ]

    private static func check(
        _ token: String, _ service: FuzzService, nonce: String? = nil
    ) -> Result<IDTokenClaims, IDTokenFault> {
        do throws(IDTokenFault) {
            return .success(
                try IDTokenChecker(policy: service.policy).check(
                    token, nonce: nonce, keys: service.providerKeys,
                    now: FuzzService.now.seconds))
        } catch {
            return .failure(error)
        }
    }

    private static func idToken(_ service: FuzzService) -> FuzzTarget {
        let good = service.idTokens
        return FuzzTarget("id-token", corpus: good, words: words) { input in
            let token = String(decoding: input, as: UTF8.self)
            switch check(token, service) {
            case .success:
                try require(good.contains(token), "a forged token is accepted")
                return true
            case .failure(let fault):
                try require(!good.contains(token), "a valid token is refused")
                try require("\(fault)".count < 40, "a fault is more than its name")
                return false
            }
        }
    }

    /// The claims are signed again, so that the checks after that of the signature are reached.
    private static func idTokenClaims(_ service: FuzzService) -> FuzzTarget {
        let corpus = [
            service.claims(subject: "subject-1"),
            service.claims(
                subject: "é", nonce: "n", email: "a@b.c",
                more: ["email_verified": "\"true\"", "auth_time": "1749999000"]),
            #"{"iss":"https://google.example","aud":["app","b"],"azp":"app","sub":"s","iat":1.5,"exp":1e12}"#,
        ]
        return FuzzTarget("id-token-claims", corpus: corpus, words: claimWords) { input in
            guard !input.isEmpty else { return false }
            let token = service.tokenKey.sign(claims: input, type: "JWT")
            guard case .success(let claims) = check(token, service, nonce: "n") else {
                return false
            }
            // Foundation refuses numbers outside a double's range even in members that are not read.
            guard let object = try? JSONSerialization.jsonObject(with: Data(input)) else {
                return true
            }
            let read = object as? [String: Any]
            try require(
                (read?["iss"] as? String)?.utf8.elementsEqual(service.provider.issuer.utf8) == true,
                "another issuer's token is accepted")
            try require(
                (read?["sub"] as? String)?.utf8.elementsEqual(claims.subject.utf8) == true,
                "the subject differs")
            let audience = (read?["aud"] as? [String]) ?? [read?["aud"] as? String ?? ""]
            try require(audience.contains("app"), "a token for another audience is accepted")
            try require(read?["nonce"] as? String == "n", "a token with another nonce is accepted")
            let end = (read?["exp"] as? NSNumber)?.doubleValue ?? 0
            try require(
                end > Double(FuzzService.now.seconds) - 61, "an expired token is accepted")
            return true
        }
    }

    private static func accessToken(_ service: FuzzService) -> FuzzTarget {
        let good = ExampleKeys.accessToken
        return FuzzTarget("access-token", corpus: [good], words: words) { input in
            let token = String(decoding: input, as: UTF8.self)
            let claims = service.accessTokens.check(token, for: .default, at: FuzzService.now)
            try require(
                (claims != nil) == (token == good), "the wrong tokens are accepted or refused")
            return claims != nil
        }
    }

    private static func refreshToken(_ service: FuzzService) -> FuzzTarget {
        let good = ExampleKeys.refreshToken
        return FuzzTarget("refresh-token", corpus: [good], words: ["A", "_", "-", "=", "AQ"]) {
            input in
            let token = String(decoding: input, as: UTF8.self)
            let session = service.refreshTokens.session(of: token, in: .default)
            try require(
                (session != nil) == (token == good), "the wrong tokens are accepted or refused")
            _ = RefreshTokens.open(input, with: token, in: .default)
            return session != nil
        }
    }

    private static func apiKey(_ service: FuzzService) -> FuzzTarget {
        let good = ExampleKeys.apiKey
        let stored = service.apiKey
        return FuzzTarget(
            "api-key", corpus: [good], words: ["alk_", "ALK_", "_", "-", "=", "A", "\u{0}"]
        ) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let key = APIKey(text) else {
                try require(text != good, "the valid key can't be read")
                return false
            }
            try require(key.text == text, "a key has two spellings")
            try require(
                key.matches(stored) == (text == good), "the wrong keys are accepted or refused")
            return true
        }
    }

    private static func keySet(_ service: FuzzService) -> FuzzTarget {
        let documents = [service.keySetDocument, ExampleKeys.foreignKeySet]
        let keyWords = [
            #""kty":"RSA""#, #""kty":"EC""#, #""kty":"oct""#, #""k":"AA""#, #""crv":"P-521""#,
            #""e":"AQAB""#, #""e":"AA""#, #""use":"enc""#, #""key_ops":[]"#, #""alg":"RS256""#,
            "AAAA",
            #""x":"#, #""n":"#, #""kid":null"#, #""x5c":[]"#,
        ]
        return FuzzTarget("key-set", corpus: documents, words: keyWords) { input in
            guard let keys = KeySet(jwks: input) else { return false }
            try require(
                JSONValue(parsing: input) != nil, "keys were read from a document that is not JSON")
            guard !keys.isEmpty else { return false }
            // A damaged key that was read may only refuse tokens.
            let checker = IDTokenChecker(policy: service.policy)
            for token in service.idTokens.prefix(1) {
                _ = try? checker.check(
                    token, nonce: nil, keys: keys, now: FuzzService.now.seconds)
            }
            return true
        }
    }

    private static func keyFiles(_ service: FuzzService) -> FuzzTarget {
        let corpus = [
            service.tokenKey.exported(), service.provider.key.exported(),
            Array(repeating: 7, count: SymmetricKey.byteCount),
        ]
        return FuzzTarget(
            "key-file", bytes: corpus,
            words: [
                #""d":"AA""#, #""kty":"EC""#, #""d":"#, #""crv":"P-256""#, "AAAA", #""p":"AA""#,
            ]
        ) { input in
            if let key = SymmetricKey(bytes: input) {
                try require(key.copiedBytes() == input, "a key changes when it is read")
                return true
            }
            if let key = TokenSigningKey(exported: input) {
                let token = key.sign(claims: Array("{}".utf8), type: "JWT")
                let payload = CompactJWS.verify(
                    token, with: key.verificationKey, allowing: [.es256])
                try require(payload != nil, "a key's own signature does not verify")
                return true
            }
            guard let key = RSASigningKey(exported: input) else { return false }
            let token = key.sign(header: [:], claims: Array("{}".utf8))
            let payload = CompactJWS.verify(token, with: key.verificationKey, allowing: [.rs256])
            try require(payload != nil, "a key's own signature does not verify")
            return true
        }
    }
}
