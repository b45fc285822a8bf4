package import RelayJSON
import RelayLink

/// The results of one operation. One task iterates; the operation ends when it is cancelled.
package struct OperationResults: AsyncSequence, Sendable {
    let responses: Responses

    package func makeAsyncIterator() -> Iterator {
        Iterator(responses: responses.makeAsyncIterator())
    }

    package struct Iterator: AsyncIteratorProtocol {
        let responses: Responses.Iterator

        /// - Throws: a ``TransportError`` when no further results can come.
        package func next() async throws -> ReceivedResult? {
            while let bytes = try await responses.next() {
                // It did not come from the server; the session has told the user.
                if bytes != GapNotice.bytes { return ReceivedResult(bytes: bytes) }
            }
            return nil
        }
    }
}

/// One result, as the server has sent it.
package struct ReceivedResult: Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var json: JSONValue { (try? JSONValue(parsing: bytes)) ?? .null }

    /// The result in one line: the server's bytes, unless they have line breaks.
    package var line: String {
        let isLine = !bytes.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return isLine ? String(decoding: bytes, as: UTF8.self) : json.text
    }

    package var hasErrors: Bool {
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
