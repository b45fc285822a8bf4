import Foundation
import RelayArtifacts
import RelayJSON

// `[String: Any]`, as programs write it, and JSON.

extension JSONValue {
    /// The value of a literal dictionary. A Swift `true` is true and not 1.
    ///
    /// - Throws: an ``OptimisticResponseError`` with the path of a value that JSON does not have.
    init(any value: Any, at path: String = "") throws {
        switch value {
        case let value as NSNumber where type(of: value as Any) is NSNumber.Type:
            guard let number = JSONValue(value) else {
                throw OptimisticResponseError(path: path, type: "an integer beyond 64 bits")
            }
            self = number
        case let value as [String: Any]:
            var object = JSONObject()
            for (key, member) in value {
                object[key] = try JSONValue(any: member, at: path.isEmpty ? key : "\(path).\(key)")
            }
            self = .object(object)
        case let value as [Any]:
            self = .array(
                try value.enumerated().map { try JSONValue(any: $1, at: "\(path).\($0)") })
        case Optional<Any>.none: self = .null
        default:
            guard let leaf = JSONValue(plain: value) else {
                throw OptimisticResponseError(
                    path: path,
                    type: value is any BinaryInteger
                        ? "an integer beyond 64 bits" : "\(type(of: value))")
            }
            self = leaf
        }
        if case .double = self { try requireFinite(at: path) }
    }

    /// - Throws: an ``OptimisticResponseError`` with the path of a number that JSON does not have: written as JSON it
    ///   would be null.
    func requireFinite(at path: String) throws {
        switch self {
        case .double(let number):
            if number.isFinite { return }
            throw OptimisticResponseError(path: path, type: "the number \(number)")
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try element.requireFinite(at: "\(path).\(index)")
            }
        case .object(let object):
            for (key, member) in object.members {
                try member.requireFinite(at: path.isEmpty ? key : "\(path).\(key)")
            }
        case .null, .bool, .int, .string: return
        }
    }

    /// - Returns: nil if it is larger than any `Int64`.
    private init?(_ number: NSNumber) {
        // NSNumber keeps a C type; "c" is that of its booleans.
        switch String(cString: number.objCType) {
        case "c", "B": self = .bool(number.boolValue)
        case "d", "f": self = .double(number.doubleValue)
        case "Q" where number.uint64Value > UInt64(Int64.max): return nil
        default: self = .int(number.int64Value)
        }
    }
}

/// An `optimisticResponse` contains something that no response could.
public struct OptimisticResponseError: SentenceError, Hashable, Sendable {
    /// Member names from the response to the value, with dots between.
    public var path: String
    /// What was found there.
    public var type: String

    public var errorDescription: String? {
        "The optimistic response cannot be used: \(type) at \"\(path)\" is not a JSON value."
    }
}
