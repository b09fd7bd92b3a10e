/// The limits whose sum bounds the time to an answer under any load.
package enum AnswerTime {
    /// The maximum wait of a command, a read or a lookup before it starts; later it is refused.
    package static let waitMax = Duration.seconds(5)
    /// The maximum duration of its transaction, including connecting.
    package static let transactionMax = Duration.seconds(6)
}
