/// Fixed keys and tokens, so that an input has the same meaning in every run.
///
/// They were made for this program and protect nothing.
enum ExampleKeys {
    /// The provider's key for RS256, as a private JWK.
    static let provider =
        #"""
        {"kty":"RSA","e":"AQAB","n":"qMQNIn8g28N0lUgteUtUfnB3Y0W6RDunk0qwBmKFJbvSqOxCkcp\#
        Hk9h7CsgykkXNcZkvM4MWlDSP4R4TT57xuKPu8zDH--h2hQoay4XA5kcO_w841l5cS5jaM-ikW1DEepB\#
        VHka6q-UIqeiEUFVDcYrgxJQHW7XYL3gWICnKKBB1_hste_g69-mRsSrTZiAbtSONWQsj05ta4aRG9jr\#
        y0gz2Hv-v0D-v5EfIavDpw2gT-R0h8H-3mCOs8QUCsW_iVfH6yXGy2SsjkwTGtZz4lhJmGt6_v2vR_Cf\#
        nX9DTY5Co8YqVpp7jZj4Uu68ZVDuN7nkA7eLwrAxrPCtk4o3sfQ","d":"KhyTn3hD-Xp98JMsX7Ajox\#
        JKxC99wXF2SPtxzYIPceE6eXLM0Ka-Mh7qYwAeGGBJGa_M9qhe_bfY8CZKUMubSwTDBxV0zX_N9TgWhB\#
        L51axFCnGgr-MnWijHx_yk6HFQubmit7WT9nkl7onJ3GbON7qdCAhdBq4rRfsL4FY1LsY2w2S2MEyTQ9\#
        6dMc6l77LjTJjN9tMJVdwf2Ex3YvRWDMtxK5WuNhRsmDrFaPh7m5zoUj_UKoEFJ5BddYrJEslpnqFNoy\#
        MHhMUXxoP62Tc-XLVMY0xPvpR09fpu6eMdFczMOBUxoxDX9H7B2HkTf1rLjzZI5kPog2By24KIBY_zAQ\#
        ","p":"3s_uQG_6_c9XKn4-2lUpwpGKhpN401VX29j7uuO000_RFhnGUGlgFcx-C8y9max5xEaJwSscz\#
        Fgj-tzEaJZWWEKy2z6McHZ0l2dg5HIWDJIGeD-uXsEldIKdC-A-u9-hRoVBx6bUeyg1Q4nHZm4sxUc89\#
        qhWk6QJbNzEugsgx30","q":"wedF9b8gQLmBhdT0dCq4bWVkOShDuxjl9EVLb5gocHqdPvG5mdPncin\#
        9BLLdq6CHXH8ZC1UBLaeRYPuozrYWD8dQ8wnAix92ylsVqHj6PBu4qXbxapJPr8paG4ILK80G-K30tLa\#
        aUg4E5fL0xEuxciak4TKdCO12Y-FWive8yQE","dp":"xQ8NXnwrddKs-u4Q1LTBbE2gQImpMO-n9s6f\#
        RJkjUkijWXKOTIwF6QGk8PaxMXqzbv4b03Y30BqcJ8CdDQr5brH-0Z0uREDfuRA7R5AHJDL5-dwIcdFN\#
        ORBTqS85DJwqXN56YQORpSLYiNUQP-1tN0VcC6Kyf31ywI84hnpVEVk","dq":"vwlUa-F5rUsWyPweO\#
        7U7LsyOCaIZ2OOW6yq6P5_xd5_V_IW7Dksv49JqbY6rxsPJmN-_lOKS3qARIzPOBJpw8eq1Xj1lbav6J\#
        TPICsvl_gJx1MRS5WRxDgiW7jMZPnYpQChixwiA0gbt3H-ZlyvcD1Lzbsum23zY_16rHQ8m-AE","qi"\#
        :"hAFUgv1AWs_i6FkN-zpJvUDuYNZd-1mmY529x5MaDFUvIGZMB3uqmfIHzxCQhvT70dx1inkj-jWwjG\#
        OM-Zf3QyH1NU17S2p7k1oEoD8QqUNECHTXuLAhavijQxYzKdWfIIqGatbvPmALqunQYHDFmep_zDhm1p\#
        4AQoah48dCegQ"}
        """#

    /// The ledger's key for ES256, as a private JWK.
    static let token =
        #"""
        {"kty":"EC","crv":"P-256","x":"9tO3miem1OZep4A5ENFyhNWf_OdwkHRy2v_dECMQM3k","y":\#
        "cWA0f7G62Ac3VdNXtuAjNmVL_hPtXtulqtI9r_eKP84","d":"NfgMf7MIjVdCqhcFkeWeCHpmubofV\#
        wpzWwyh_YFAE3I"}
        """#

    /// A good access token of the ledger's key.
    static let accessToken =
        #"""
        eyJhbGciOiJFUzI1NiIsImtpZCI6Ik5WLV9xSGVSTWowUWZMb0xLTTBmV3pWYlZMeEJaLXJ1Yk0xUjBk\#
        cTVrMzAiLCJ0eXAiOiJhdCtqd3QifQ.eyJpc3MiOiJodHRwczovL2xlZGdlci5leGFtcGxlIiwiYXVkI\#
        joiYXBwIiwic3ViIjoiMDE5MGExYjItYzNkNC03MDAwLTgwMDAtMDAwMDAwMDAwMDAxIiwidGlkIjoiZ\#
        GVmYXVsdCIsInNpZCI6IjAxOTBhMWIyLWMzZDQtNzAwMC04MDAwLTAwMDAwMDAwMDAwNCIsImlhdCI6M\#
        Tc1MDAwMDAwMCwiZXhwIjoxNzUwMDAwNjAwLCJhdXRoX3RpbWUiOjE3NTAwMDAwMDAsImFtciI6WyJmZ\#
        WQiXX0.M0--2UJ3Ae_VGga0YIFI9aUpcKuRkh2mu0usnbcJbfcmsHEmYHEMALW-M5hbJbhXKvf2WpXxo\#
        cCaSUewsfIQoA
        """#

    /// A good refresh token of the key of the bytes 0 to 31.
    static let refreshToken =
        #"""
        AQGQobLD1HAAgAAAAAAAAAQJ6lImwJPiAXy91s8VGu446Z4nRcfmPiK_fNYKG-mE17g-pwx3SVlge9FL\#
        cLWKc6c
        """#

    /// The API key of an administrator, whose secret is the bytes 0 to 31.
    static let apiKey =
        "alk_AZChssPUcACAAAAAAAAAAQ_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    /// Keys of another provider.
    static let foreignKeySet =
        #"""
        {"keys":[{"alg":"RS256","kid":"TJ0hehjxoiCCNBVmwjQTuWXe3HYnTmXfGaAAQp1lTPw","use\#
        ":"sig","e":"AQAB","kty":"RSA","n":"uAUSnKZ__whvj-mOfXuO9uI4kby8zXJ3XErPA2MbaWS2\#
        -KSq8OxU1-y4T8DEe1wYW3oM3upwHzTgMEYHuYsmqQYnvW4CiJYnx5zHNXqodHao0kDZGdxSeDtt3m78\#
        pJ6-PUg3H-VN4lLUY-DGxQmaXSroakiAohE5HmGdDyLdcIyP4Iq2F25NaJWPSvveqwMezAXgy3nYYlhe\#
        VbhN1IwGm6-EnOlKDdMztDtP8OfbuOWpMhlUpb8A-pwl18vGkNcgI3SqktyM0hE4pEyzptkTPkzLc3tU\#
        KoxtKc6WnQmlVQMvI-QksnUcrLQjI2a2zi_6xwrpNxH9QljY3xLmzm3ocw"}]}
        """#
}
