import RelayJSON

/// What a server says about a response in `extensions.relay`, read without looking at the data.
package struct ResponseNotes: Hashable, Sendable {
    /// The cursor to resume a stream from.
    package var cursor: String?
    /// In the first message after a resumption: whether nothing is missing.
    package var recovered: Bool?

    /// Empty if the server sent none, or if the response is not a JSON object.
    package init(_ response: [UInt8]) {
        self = (try? response.withUnsafeBytes { try Self.read($0) }) ?? ResponseNotes()
    }

    /// - Parameter extensions: the bytes of a response's `extensions`.
    init(extensions: [UInt8]?) {
        self.init(relay: extensions.flatMap { try? JSONValue(parsing: $0) }?["relay"])
    }

    /// - Parameter relay: the value of `extensions.relay`.
    init(relay: JSONValue?) {
        cursor = relay?["cursor"]?.string
        recovered = relay?["recovered"]?.bool
    }

    private init() {}

    private static func read(_ bytes: UnsafeRawBufferPointer) throws -> ResponseNotes {
        var notes = ResponseNotes()
        var reader = JSONReader(bytes)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            if key == "extensions" {
                notes = ResponseNotes(relay: try reader.readValue()["relay"])
            } else {
                _ = try reader.skipValue()
            }
        }
        return notes
    }
}
