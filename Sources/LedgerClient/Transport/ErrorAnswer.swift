/// The body of an error.
struct ErrorAnswer: Decodable {
    struct Content: Decodable {
        let code: String
        let message: String
        let details: Details

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            code = try container.decode(String.self, forKey: .code)
            message = try container.decode(String.self, forKey: .message)
            details = try container.decodeIfPresent(Details.self, forKey: .details) ?? Details()
        }

        private enum CodingKeys: String, CodingKey {
            case code
            case message
            case details
        }
    }

    /// The details: texts and numbers, the second step of a sign-in, or the proof of a refused link.
    struct Details: Decodable {
        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        private(set) var texts: [String: String] = [:]
        private(set) var challenge: SecondFactorChallenge?
        private(set) var proofToken: String?

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            var factors: [SecondFactor] = []
            for name in container.allKeys {
                if let text = try? container.decode(String.self, forKey: name) {
                    texts[name.stringValue] = text
                } else if let number = try? container.decode(Int.self, forKey: name) {
                    texts[name.stringValue] = String(number)
                } else if name.stringValue == "factors" {
                    factors = (try? container.decode([SecondFactor].self, forKey: name)) ?? []
                }
            }
            // A token is in no text of an error.
            proofToken = texts.removeValue(forKey: "proof_token")
            if let token = texts.removeValue(forKey: "sign_in_token") {
                challenge = SecondFactorChallenge(
                    factors: factors, expiresIn: texts["expires_in"].flatMap { Int($0) } ?? 0,
                    token: token)
            }
        }
    }

    let error: Content
}
