package import RelayJSON
import RelayLink

/// The results of one operation. One task iterates; the operation ends when it is cancelled.
package struct OperationResults: AsyncSequence, Sendable {
    let responses: Responses

    package func makeAsyncIterator() -> Iterator { Iterator(responses) }

    package struct Iterator: AsyncIteratorProtocol {
        private let responses: Responses.Iterator
        private let channel: ResponseChannel
        private var followsGap = false
        /// The end that was found behind a batch.
        private var end: Result<Void, TransportError>?

        fileprivate init(_ responses: Responses) {
            self.responses = responses.makeAsyncIterator()
            channel = responses.channel
        }

        /// - Throws: a ``TransportError`` when no further results can come.
        package mutating func next() async throws -> ReceivedResult? {
            if let end {
                try end.get()
                return nil
            }
            while let bytes = try await responses.next() {
                if let result = result(of: bytes) { return result }
            }
            return nil
        }

        /// The next result with those behind it that are there already: for readers that do something for each batch.
        /// - Throws: as ``next()``.
        package mutating func nextBatch(limit: Int) async throws -> [ReceivedResult]? {
            guard let first = try await next() else { return nil }
            var batch = [first]
            while batch.count < limit {
                switch channel.poll() {
                case .response(let bytes, _):
                    if let result = result(of: bytes) { batch.append(result) }
                case .end(let end):
                    self.end = end
                    return batch
                case .waits: return batch
                }
            }
            return batch
        }

        private mutating func result(of bytes: [UInt8]) -> ReceivedResult? {
            // A gap's notice does not come from the server.
            if bytes == GapNotice.bytes {
                followsGap = true
                return nil
            }
            defer { followsGap = false }
            return ReceivedResult(bytes: bytes, followsGap: followsGap)
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
