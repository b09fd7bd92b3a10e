/// The version of the program.
enum Version {
    static let text = "0.1.0"
}
