import Cryptography
import Testing

/// One key used by many threads at once.
@Suite struct SharedKeyTests {
    @Test(.timeLimit(.minutes(10)))
    func `eight tasks sign and check with the same keys without a wrong answer`() async {
        let rsa = RSASigningKey.generate()
        let ec = TokenSigningKey.generate()
        let claims = Array(#"{"sub":"a"}"#.utf8)
        let rsaToken = rsa.sign(header: ["kid": rsa.keyID], claims: claims)
        let forged = ec.sign(claims: claims, type: "JWT").forged
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { @concurrent in
                    var wrong = 0
                    for _ in 0..<300 {
                        let token = ec.sign(claims: claims, type: "JWT")
                        let good = [
                            CompactJWS.verify(
                                token, with: ec.verificationKey, allowing: [.es256]) == claims,
                            CompactJWS.verify(
                                rsaToken, with: rsa.verificationKey, allowing: [.rs256]) == claims,
                            CompactJWS.verify(
                                String(forged), with: ec.verificationKey, allowing: [.es256])
                                == nil,
                        ]
                        wrong += good.count { !$0 }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test func `eight tasks digest and seal without a wrong answer`() async {
        let key = SymmetricKey.generate()
        let bytes = [UInt8](repeating: 7, count: 600)
        let digest = SHA256.hash(bytes)
        let code = HMACSHA256.mac(key: digest, bytes)
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { @concurrent in
                    (0..<500).count { _ in
                        let box = AESGCM.seal(bytes, key: key, additional: digest)
                        return SHA256.hash(bytes) != digest
                            || HMACSHA256.mac(key: digest, bytes) != code
                            || AESGCM.open(box, key: key, additional: digest) != bytes
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
