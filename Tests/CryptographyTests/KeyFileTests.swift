import Testing

@testable import Cryptography
@testable import Encodings
@testable import JSON

/// Private keys in files: those of former releases, and keys with other members than ours.
@Suite struct KeyFileTests {
    /// A key that cjose made and wrote for a former release; its secret number begins with a zero byte.
    static let formerTokenKey =
        #"""
        {"kty":"EC","crv":"P-256","x":"kCy7hSyhHUPZhKvUC_nOvSc5wqFcDe-jx0cLPeta4GY","y":"PB9\#
        _yz6-5gNInqzpdQCBLOhzzbLpBOrxprqP8u2i_E8","d":"AAR3vjtfZ21H6yw48XeXg2uoVsutLHXlT7yUE\#
        yDWMas"}
        """#

    /// An RSA key that cjose made and wrote.
    static let formerProviderKey =
        #"""
        {"kty":"RSA","e":"AQAB","n":"wP9fTXx6vWZGkqlgZ78pLD1wBT6sq6ehTr_zvdM3k2pW4E6Qr5W3U2D\#
        2oj8dVMBU6JGbr27VPy56zOCd2AoZYTg6U_0ZHH7W5MtO3thvat4KwGNFmStXGUVWxU-aE15R_8VJSl44gh2\#
        iWbL7TmPmtSYYbgXZbDadZGiuqW4QMHxvfQWoLbRn3MWyzFMIBj3MJSnm6-ZYFY-XZnWlJ_gPs1YsAJDQFFv\#
        p5_SZYZrZl0hTbTU-pCBxHHb-NwTxVuB-1Z33ruX9-nnRpMHWjPeOCCvI8EsbbQB73yo4gfRMsZehi2gARK-\#
        UjIhkF5A2B1_9IVizy-b8RF1idW3hUvuSmw","d":"EFMplQzT9wRZMNup32ywh2D1AkSQZ36o6tfavrJIj6\#
        wdiCCtJWUFGkTn58Zt7TbNl9SFNjwqRotgcMcJIvaLugj_Cg6tGpdyBu1ZkQj-t6vrfeWHxBKB7g3K7qqyjj\#
        PavMdL0UISBpOKIYs9rZ5OrAD6bQgKoZgnDRC7wXIhZXBjbZlWUsLWOjvnfTctMXth3XufgmVs9ovDqwgXmE\#
        xleJdRMpq80n8WTsC153MGZBQHJs-zRAlMwDKN7-5lgVCmDO1LXd3dSZbtE9u_0BWKrFK3UTa4EnrRnEMDH0\#
        CguGTAxfZfjmm7813GMVws3zcTuZ5kXOHPvbAZKL1b64dNYQ","p":"7mzMweVdjmTeEYtvyYVhYtC0KDw0k\#
        ymCB1I_-LZDxy9J19fM-QhasZxPx88EbD_QV3D8KPPhZ_BxPrxvju_61qvFSkRd3SI4FwUM6nNgzr7P3lM25\#
        lkmruMaIChZRKxnjsM3jCGA5USPlQ3MKI1H2Q5bLmGNCmrhYbzX9gCt9SE","q":"zzlVX4wZ8DV37sjVpfZ\#
        6fk1Nc_dA7zONcvLbBBlod0wErC6t1qqpO4kV8_JGujoaEPVfP8VTEJWBzgyi2U5kMmaC4lTLFR36oHkEBWQ\#
        tNqssgYike_R58xRe_9bVtF0jpKfDlTxElJWXKG_UhzxyMfE6KBh9JsWoS_TB8daNlDs","dp":"Sa5L1Lvq\#
        HqAjVG6v3Cog_2WZ1zlL0hKowVR0uoqxBXQisNZa3LbtOCgjK49ZQY6y9uLOumUrynAuvwGCxDx7Wy34KUxZ\#
        aYYyqUKBTE7douaq3H0A4Uy5vKAoKbnuZF-XHTJNDzwnVjLK4HhEGGAYzQY3vWyeJpMDFa5DWx24pKE","dq\#
        ":"MJBwOJ896PSu8dAxed6k4Hq_XyEgH68GRF00BObre6HeKngaF4gRdzluYqhx-Ozq9PR8aRaWm_ld3WtKs\#
        wDTLJinreFPYtiOxxL1ZUoP6pL9MDJU0hP-jIBGr1Cq7sUxOEJ07MGeFPBl530l4rfAz4GILqNmmTKTeZGX7\#
        lRpA8c","qi":"X5OKXjNDz2nTSeGEv7fMWavgannG5F9K5yuDyudz-PVIjGjuYhux96I4ZzvnybizOTsVqp\#
        DfpCA1tHJvYW89GB_EmyxgP7aP575duDiIpn5BDXAWZKGSV7-YuU-RjlGOdACycXoJFBfeexoc4c31w1y3yW\#
        zuJ81VL9KR_Vkr-tU"}
        """#

    private static let claims = Array(#"{"sub":"a"}"#.utf8)

    @Test func `a token key of a former release has the same id and members and signs`() throws {
        let key = try #require(TokenSigningKey(exported: Array(Self.formerTokenKey.utf8)))
        #expect(key.keyID == "HJkSulB8yyFXpsdgh1ur9667H3k8Q0aBGcfRMnNmGQw")
        #expect(
            JSONValue(parsing: key.exported())
                == JSONValue(parsing: Array(Self.formerTokenKey.utf8)))
        let token = key.sign(claims: Self.claims, type: "at+jwt")
        #expect(
            CompactJWS.verify(token, with: key.verificationKey, allowing: [.es256]) == Self.claims)
    }

    @Test func `a provider's key of a former release has the same id and members and signs`() throws
    {
        let key = try #require(RSASigningKey(exported: Array(Self.formerProviderKey.utf8)))
        #expect(key.keyID == "dS21PDozsgiXu3ZgFiDlWvFh102KgS-Fb1xtEBm2SR4")
        #expect(
            JSONValue(parsing: key.exported())
                == JSONValue(parsing: Array(Self.formerProviderKey.utf8)))
        let token = key.sign(header: [:], claims: Self.claims)
        #expect(
            CompactJWS.verify(token, with: key.verificationKey, allowing: [.rs256]) == Self.claims)
    }

    @Test func `an RSA key without its primes signs and is exported without them`() throws {
        let jwk = try providerKey(without: ["p", "q", "dp", "dq", "qi"])
        let key = try #require(RSASigningKey(exported: jwk))
        #expect(JSONValue(parsing: key.exported()) == JSONValue(parsing: jwk))
        let token = key.sign(header: ["alg": "PS256"], claims: Self.claims)
        #expect(
            CompactJWS.verify(token, with: key.verificationKey, allowing: [.ps256]) == Self.claims)
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi"])
    func `an RSA key that lacks one private member is refused`(name: String) throws {
        #expect(RSASigningKey(exported: try providerKey(without: [name])) == nil)
    }

    @Test func `an RSA key with another key's private members is refused`() throws {
        let other = try members(RSASigningKey.generate().exported())
        for names in [["d"], ["d", "p", "q", "dp", "dq", "qi"]] {
            let absent = Set(["p", "q", "dp", "dq", "qi"]).subtracting(names)
            let jwk = try providerKey(without: absent, taking: names, from: other)
            #expect(RSASigningKey(exported: jwk) == nil)
        }
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi"])
    func `an RSA key with an empty member or one longer than the modulus is refused`(name: String)
        throws
    {
        for bytes in [[], [UInt8](repeating: 0x77, count: 257)] {
            let jwk = try providerKey(
                taking: [name], from: [name: .string(Base64URL.encode(bytes))])
            #expect(RSASigningKey(exported: jwk) == nil)
        }
    }

    @Test func `an RSA key under 2048 bits is refused`() {
        #expect(RSASigningKey(exported: PrivateKey.generateRSA(bits: 1_024).jwk()) == nil)
        #expect(RSASigningKey(exported: PrivateKey.generateRSA(bits: 2_048).jwk()) != nil)
    }

    @Test(arguments: [0, 1, 0xFF])
    func `a secret number out of the curve's range is refused`(byte: UInt8) throws {
        // Zero, a number that is too small for the point, and one beyond the curve's order.
        var number = [UInt8](repeating: byte == 1 ? 0 : byte, count: 32)
        number[31] = byte
        let members = try members(Array(Self.formerTokenKey.utf8))
        let secret = try #require(members["d"]?.string)
        let jwk = Self.formerTokenKey.replacing(secret, with: Base64URL.encode(number))
        #expect(jwk != Self.formerTokenKey && TokenSigningKey(exported: Array(jwk.utf8)) == nil)
    }

    private func members(_ jwk: [UInt8]) throws -> JSONMembers {
        try #require(JSONValue(parsing: jwk)?.members)
    }

    /// Returns the provider's key with members left out or taken from another object.
    private func providerKey(
        without absent: Set<String> = [], taking names: [String] = [],
        from other: JSONMembers = [:]
    ) throws -> [UInt8] {
        var writer = JSONWriter()
        let members = try members(Array(Self.formerProviderKey.utf8))
        writer.object { writer in
            for (name, value) in members where !absent.contains(name) {
                writer.name(name)
                writer.text((names.contains(name) ? other[name] : value)?.string ?? "")
            }
        }
        return writer.bytes
    }
}
