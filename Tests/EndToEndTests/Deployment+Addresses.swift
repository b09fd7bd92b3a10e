import LedgerTestSupport

extension Deployment {
    /// Adds providers of types `email` and `password` to the providers file, before a server starts.
    ///
    /// Only development mode serves them without a mail server.
    func addAddressProviders() throws {
        let file = Deployment.providersFile(google: google, apple: apple)
        _ = try write(
            file.replacing(
                #"{"providers":["#,
                with: """
                    {"providers":[{"name":"email","type":"email"},
                      {"name":"password","type":"password"},
                    """), to: "providers.json")
    }
}
