/// A request as a server received it, upgrade requests included. Its body is whole.
package struct HTTPRequest: Equatable, Sendable {
    package struct QueryItem: Equatable, Sendable {
        package let name: String
        package let value: String
        /// Whether its percent-encoding is correct, and that of UTF-8; what is not is repaired.
        package var isWellFormed = true
    }

    /// In capitals: `GET`, `HEAD`, `POST`, `OPTIONS`, `PUT`, `PATCH` or `DELETE`.
    package let method: String
    /// Percent-decoded, without the query.
    package let path: String
    /// What follows the question mark, percent-decoded, in order.
    package let query: [QueryItem]
    package let headers: HTTPHeaders
    package var body: [UInt8]
    /// The address of the other end, without its port.
    package let peerAddress: String
    /// Whether it came over TLS.
    package let isSecure: Bool

    /// Of an upgrade request: the first subprotocol the client offers that the server has, if any.
    package var subprotocol: String?
    /// Of an upgrade request: all subprotocols the client offers.
    package var offeredSubprotocols: [String] { headers.list(in: "sec-websocket-protocol") }

    /// Of an upgrade request: the values of the fields that offer extensions.
    package var offeredExtensions: [String] {
        headers.values(of: "sec-websocket-extensions")
    }

    /// The value of the first item of that name in the query.
    package func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}

extension HTTPRequest {
    package init(head: HTTPRequestHead, body: [UInt8], peerAddress: String, isSecure: Bool) {
        self.init(
            method: head.method, path: head.path, query: head.query, headers: head.headers,
            body: body, peerAddress: peerAddress, isSecure: isSecure)
    }
}

/// An answer, whole.
package struct HTTPResponse: Equatable, Sendable {
    /// 200 to 599.
    package var status: Int
    /// Without `content-length` and `connection`, which are the server's to say.
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// The connection serves no other request after this one.
    package var endsConnection = false

    package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of one line of plain text.
    package init(status: Int, text: String) {
        self.init(
            status: status, headers: ["content-type": "text/plain; charset=utf-8"],
            body: Array((text + "\n").utf8))
    }
}
