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
            var followsGap = false
            while let bytes = try await responses.next() {
                // It does not come from the server.
                if bytes != GapNotice.bytes {
                    return ReceivedResult(bytes: bytes, followsGap: followsGap)
                }
                followsGap = true
            }
            return nil
        }
    }
}

/// One result, as the server has sent it.
package struct ReceivedResult: Sendable {
    package let bytes: [UInt8]

    /// Whether results before it may be missing.
    package let followsGap: Bool

    package init(bytes: [UInt8], followsGap: Bool = false) {
        self.bytes = bytes
        self.followsGap = followsGap
    }

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
                // Some servers say that there are none.
                if key == "errors" { return ![.null, .array([])].contains(try reader.readValue()) }
                _ = try reader.skipValue()
            }
            return false
        }
        return found ?? false
    }
}
