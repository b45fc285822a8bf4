public import RelayArtifacts
import RelayJSON

/// A link that an operation selects and the store does not have.
public struct MissingField: Hashable, Sendable {
    /// The record that has the field; `DataID.rootID` for a field of the query type.
    public let recordID: DataID
    /// The field with its arguments, as the store names it: `node(id:"4")`.
    public let storageKey: String

    /// The field's name.
    public var name: String { String(storageKey.prefix { $0 != "(" }) }

    /// The value of one of the field's arguments; nil if it was not given.
    public func argument(_ name: String) -> VariableValue? {
        var rest = Array(storageKey.utf8)[...]
        guard let open = rest.firstIndex(of: UInt8(ascii: "(")) else { return nil }
        rest = rest[(open + 1)...]
        // `name:JSON,name:JSON)`
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            let isWanted = rest[..<colon].elementsEqual(name.utf8)
            rest = rest[(colon + 1)...]
            let value = rest.withUnsafeBytes { bytes -> (JSONValue, length: Int)? in
                var reader = JSONReader(bytes)
                guard let value = try? reader.readValue() else { return nil }
                return (value, reader.byteOffset)
            }
            guard let value else { return nil }
            if isWanted { return VariableValue(value.0) }
            rest = rest.dropFirst(value.length + 1)
        }
        return nil
    }
}

/// Answers a field that is not in the store from a record that is, so that no request is needed for it.
///
///     let store = Store(missingFieldHandlers: [
///         .node,
///         MissingFieldHandler { field in
///             // The query field user(login:) returns the same users as node(id:).
///             guard field.name == "user", let login = field.argument("login")?.stringValue else { return nil }
///             return DataID("user:\(login)")
///         },
///     ])
///
/// Called when a program checks whether an operation can be answered (`Environment.check(operation:)`, and fetch
/// policies that use the store). What it finds is written to the store as the field's link.
public struct MissingFieldHandler: Sendable {
    let record: @Sendable (MissingField) -> DataID?

    /// - Parameter record: returns the id of the record that the field links to, or nil if it does not know. A record
    ///   that the store does not have is no answer. It is called under the store's writer lock and must not call the
    ///   store.
    public init(_ record: @escaping @Sendable (MissingField) -> DataID?) { self.record = record }

    /// `node(id: X)` of the query type is the record X.
    public static let node = MissingFieldHandler { field in
        guard field.recordID == .rootID, field.name == "node" else { return nil }
        switch field.argument("id") {
        case .string(let id): return DataID(id)
        // Some servers use numbers as ids.
        case .int(let id): return DataID(String(id))
        default: return nil
        }
    }
}
