import RelayJSON

/// Reads an object in which no name occurs twice, on any level.
///
/// Two parsers that disagree about which of two members counts are a way around a check. RFC 7515 §4, RFC 7517 §4 and
/// RFC 7519 §4 allow to refuse them.
enum StrictJSON {
    enum Failure: Error {
        case syntax(JSONError)
        case notAnObject
        /// The name with its escapes resolved.
        case duplicateMember(String)
    }

    /// Objects and lists inside each other; headers, claims and key sets need four levels.
    static let depthLimit = 16

    static func object(_ bytes: [UInt8]) throws(Failure) -> JSONObject {
        let result = bytes.withUnsafeBytes { buffer -> Result<JSONObject, Failure> in
            var reader = StrictReader(buffer)
            do throws(JSONError) {
                let value = try reader.value()
                try reader.finish()
                if let name = reader.duplicate { return .failure(.duplicateMember(name)) }
                return value.object.map(Result.success) ?? .failure(.notAnObject)
            } catch {
                return .failure(.syntax(error))
            }
        }
        return try result.get()
    }
}

private struct StrictReader {
    private var reader: JSONReader
    /// The first name that was found twice.
    private(set) var duplicate: String?

    init(_ bytes: UnsafeRawBufferPointer) {
        reader = JSONReader(bytes, limits: JSONLimits(depth: StrictJSON.depthLimit))
    }

    mutating func finish() throws(JSONError) { try reader.finish() }

    mutating func value() throws(JSONError) -> JSONValue {
        switch try reader.peek() {
        case .null, .bool, .number, .string:
            return try reader.readValue()
        case .array:
            var elements: [JSONValue] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try value()) }
            return .array(elements)
        case .object:
            var object = JSONObject()
            try reader.beginObject()
            while let key = try reader.nextKey() {
                let name = key.string
                let count = object.count
                object[name] = try value()
                if object.count == count, duplicate == nil { duplicate = name }
            }
            return .object(object)
        }
    }
}
