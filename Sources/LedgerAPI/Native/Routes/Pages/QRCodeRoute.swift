internal import HTTP
internal import JSON
internal import LedgerSignIn
internal import QRCodes

/// `POST /account/qr-code`: the modules of the QR code that an authenticator app scans.
struct QRCodeRoute: Route {
    static let method = "POST"
    static let path = "/account/qr-code"
    static let operation = Operation(
        id: "make_qr_code", tag: .account, summary: "The modules of a QR code",
        access: .anyone, body: QRCodeBody.self, answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard call.page?.caller != nil else { throw .notOfPage }
        guard let code = QRCode(try call.body().text(QRCodeBody.text)) else {
            throw .isRequired(QRCodeBody.text.name)
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("rows")
            writer.texts(code.rowTexts)
        }
        return .json(bytes: writer.bytes)
    }
}

private enum QRCodeBody: BodyForm {
    static let name = "QRCodeText"
    static let text = RequiredText(
        name: "text", bytesMax: QRCode.bytesMax, about: "The text", example: "otpauth://totp/x")
    static let members: [any BodyMember] = [text]
}
