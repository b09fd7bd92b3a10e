import Cryptography
import Ledger
import LedgerSignIn

/// The providers file: refused in one line that names the member, or parsed.
enum ProvidersFileTarget {
    private static let faultBytesMax = 5_000

    static let target = FuzzTarget(
        "providers-file",
        corpus: [
            """
            {"providers":[
              {"name":"google","type":"oidc","issuer":["https://accounts.google.com","accounts.google.com"],
               "jwks_uri":"https://www.googleapis.com/oauth2/v3/certs","audiences":["CLIENT_ID"],
               "algorithms":["RS256","ES256"],"nonce":"raw","nonce_required":true,"display_name":"G",
               "second_factor_amr":["mfa"]},
              {"name":"apple","type":"oidc","issuer":"https://appleid.apple.com",
               "jwks_uri":"https://appleid.apple.com/auth/keys","audiences":["B"],"nonce":"sha256"}]}
            """,
            """
            {"tenants":{"default":{"providers":[]},"acme":{"providers":[{"name":"x","type":"oidc",
            "issuer":"http://127.0.0.1","jwks_uri":"http://127.0.0.1:80/k","audiences":["a","b"]}],
            "several_per_provider":true}}}
            """,
            """
            {"app_name":"A","return_to":["https://a.example/cb","http://127.0.0.1/cb","com.a.b:/cb"],
             "providers":[{"name":"x","type":"oauth2","preset":"x","client_id":"c","client_secret":"s",
               "flow":{"authorization_url":"https://x.com/a","scope":"s","form_post":true,"pkce":false}},
              {"name":"a","type":"oidc","issuer":"https://a.example","jwks_uri":"https://a.example/k",
               "audiences":["c"],"flow":{"client_id":"c","authorization_url":"https://a.example",
               "token_url":"https://a.example","apple_key":{"team_id":"T","key_id":"K","private_key":"AAAA"}}}]}
            """,
            """
            {"providers":[],"messages":{"product":"A","texts":{"en":{
             "sign_in_code":{"subject":"{product}","body":["{code}","{minutes} min."],"sms":"{code} {minutes}"},
             "address_known":{"body":["Sign in.","Here: {link}"]}}}}}
            """,
        ],
        words: [
            "http://", "https://", "https:", "@", "[::1]", ":99999", "?", "#", "..", "\"name\":",
            "null",
            "\"algorithms\":[\"none\"]", "\"HS256\"", "[]", "{}", "\"\"", "\\u0000", "\"K\"",
        ]
    ) { input in
        do throws(ProvidersFileFault) {
            let tenants = try ProvidersFile.parse(input, policy: TenantPolicy(providers: []))
            return !tenants.isEmpty
        } catch {
            let line = error.description
            try require(line.utf8.count <= faultBytesMax, "the message is too long")
            try require(
                !line.unicodeScalars.contains { $0.properties.generalCategory == .control },
                "the message contains control characters")
            return false
        }
    }
}
