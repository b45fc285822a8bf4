import Console
import RelayJSON
import RelayLink

/// The results of one operation. One task iterates; the operation ends when it is cancelled.
struct OperationResults: AsyncSequence, Sendable {
    let responses: Responses

    func makeAsyncIterator() -> Iterator { Iterator(responses: responses.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        let responses: Responses.Iterator

        /// - Throws: a ``TransportError`` when no further results can come.
        func next() async throws -> ReceivedResult? {
            while let bytes = try await responses.next() {
                // It did not come from the server; the session has told the user.
                if bytes != GapNotice.bytes { return ReceivedResult(bytes: bytes) }
            }
            return nil
        }
    }
}

/// One result, as the server has sent it.
struct ReceivedResult: Sendable {
    let bytes: [UInt8]

    var json: JSONValue { (try? JSONValue(parsing: bytes)) ?? .null }

    /// The result in one line: the server's bytes, unless they have line breaks.
    var line: String {
        let isLine = !bytes.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return isLine ? String(decoding: bytes, as: UTF8.self) : json.text
    }

    var hasErrors: Bool {
        let found = try? bytes.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if key == "errors" { return true }
                _ = try reader.skipValue()
            }
            return false
        }
        return found ?? false
    }
}
