/// A token that an imitated provider issued.
struct MintedToken {
    /// The kinds of token, by their name in bodies of the API.
    enum Kind: String {
        case idToken = "id_token"
        case accessToken = "access_token"

        /// The name in sentences.
        var title: String {
            switch self {
            case .idToken: "ID token"
            case .accessToken: "access token"
            }
        }
    }

    let kind: Kind
    let text: String
}
