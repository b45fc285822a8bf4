public import Foundation
import RelayArtifacts
import RelayJSON

/// A GraphQL response (GraphQL §7.1), its data still as the bytes that came.
public struct GraphQLResponse: Sendable {
    /// The whole response.
    let bytes: Data
    /// Where in `bytes` the data's object is; nil where it is null or absent.
    let dataRange: Range<Int>?
    /// nil where there are none.
    public let errors: [GraphQLError]?
    let extensionData: VariableData?

    /// The data as a tree; made each time that it is asked for.
    public var data: [String: Any]? {
        dataRange.flatMap {
            (try? JSONValue(
                parsing: bytes[bytes.startIndex + $0.lowerBound..<bytes.startIndex + $0.upperBound]))?
                .anyObject
        }
    }

    /// What the server adds.
    public var extensions: [String: Any]? {
        extensionData.map { $0.json.members.reduce(into: [:]) { $0[$1.key] = $1.value.any } }
    }

    /// - Throws: a ``ResponseError`` for what is no JSON object, or has neither data nor errors.
    public init(_ bytes: Data, operation: String = "") throws {
        var range: Range<Int>?
        var hasData = false
        var errors: [GraphQLError] = []
        var extensions: VariableData?
        do {
            try bytes.withUnsafeBytes { buffer in
                var reader = JSONReader(buffer)
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    if key == "data" {
                        hasData = true
                        let isObject = try reader.peek() == .object
                        let value = try reader.skipValue()
                        if isObject, let start = value.baseAddress, let first = buffer.baseAddress {
                            range = start - first..<start - first + value.count
                        }
                    } else if key == "errors" {
                        errors = (try reader.readValue().array ?? []).map(GraphQLError.init)
                    } else if key == "extensions" {
                        extensions = try reader.readValue().object.map { VariableData($0) }
                    } else {
                        try reader.skipValue()
                    }
                }
                try reader.finish()
            }
        } catch {
            throw ResponseError(operation: operation, reason: "\(error)")
        }
        guard hasData || !errors.isEmpty else {
            throw ResponseError(
                operation: operation, reason: "it has neither \"data\" nor \"errors\".")
        }
        self.bytes = bytes
        dataRange = range
        self.errors = errors.isEmpty ? nil : errors
        extensionData = extensions
    }

    /// Calls the body with the bytes of the data's object; nil if there is none.
    func withData<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        guard let dataRange else { return nil }
        return try bytes.withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0[dataRange]))
        }
    }
}
