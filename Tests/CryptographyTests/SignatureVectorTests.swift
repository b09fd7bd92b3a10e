import Cryptography
import Testing

/// Signatures and thumbprints against the examples of the RFCs.
@Suite struct SignatureVectorTests {
    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        + "cnVlfQ"

    private static let payloadText =
        "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"

    /// RFC 7515 appendix A.2.
    private static let rsaKey =
        #"{"kty":"RSA","e":"AQAB","n":""#
        + "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1"
        + "Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpa"
        + "SHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4"
        + "LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
        + #""}"#

    private static let rsaToken =
        "eyJhbGciOiJSUzI1NiJ9." + payload + "."
        + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O"
        + "8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARN"
        + "PvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ"
        + "1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"

    /// RFC 7515 appendix A.3.
    private static let ecKey = """
        {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
        """

    private static let ecToken =
        "eyJhbGciOiJFUzI1NiJ9." + payload + "."
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    @Test func `the RS256 example of RFC 7515 is good`() throws {
        let key = try #require(VerificationKey(jwk: Array(Self.rsaKey.utf8)))
        let payload = CompactJWS.verify(Self.rsaToken, with: key, allowing: [.rs256])
        #expect(payload == Array(Self.payloadText.utf8))
        #expect(CompactJWS.verify(Self.rsaToken, with: key, allowing: [.es256]) == nil)
        #expect(CompactJWS.verify(Self.rsaToken, with: key, allowing: []) == nil)
    }

    @Test func `the ES256 example of RFC 7515 is good`() throws {
        let key = try #require(VerificationKey(jwk: Array(Self.ecKey.utf8)))
        let payload = CompactJWS.verify(Self.ecToken, with: key, allowing: [.es256])
        #expect(payload == Array(Self.payloadText.utf8))
    }

    @Test func `a token of one kind is invalid with a key of the other`() throws {
        let rsa = try #require(VerificationKey(jwk: Array(Self.rsaKey.utf8)))
        let ec = try #require(VerificationKey(jwk: Array(Self.ecKey.utf8)))
        let all = Set(SignatureAlgorithm.allCases)
        #expect(CompactJWS.verify(Self.rsaToken, with: ec, allowing: all) == nil)
        #expect(CompactJWS.verify(Self.ecToken, with: rsa, allowing: all) == nil)
    }

    @Test func `the thumbprint is that of RFC 7638`() throws {
        let jwk =
            #"{"kty":"RSA","alg":"RS256","kid":"2011-04-29","e":"AQAB","n":""#
            + "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1"
            + "L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4"
            + "QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbO"
            + "pbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csF"
            + #"Cur-kEgU8awapJzKnqDKgw"}"#
        let key = try #require(VerificationKey(jwk: Array(jwk.utf8)))
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(key.keyID == "2011-04-29")
    }
}
