import RelayJSON

/// The id of a record, unique in its store across all types.
public struct DataID: RawRepresentable, Hashable, Comparable, Sendable, Codable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    /// The id with this text.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// The record that holds the fields of the query type.
    public static let rootID: DataID = "client:root"

    /// A temporary id for a record that is only known locally: 64 random bits.
    package static func makeLocalID() -> DataID {
        DataID("client:local:" + String(UInt64.random(in: 0 ... .max), radix: 16))
    }

    public var description: String { rawValue }

    /// Ids are equal if their bytes are, so "é" as one Unicode scalar and as two name two records.
    public static func == (left: DataID, right: DataID) -> Bool {
        left.rawValue.isSame(as: right.rawValue)
    }

    public func hash(into hasher: inout Hasher) { rawValue.hashBytes(into: &hasher) }

    /// The order of the bytes.
    public static func < (left: DataID, right: DataID) -> Bool {
        ExactText(left.rawValue) < ExactText(right.rawValue)
    }

    /// The id of an object without an id of its own: it is derived from the object's place.
    ///
    /// `client:<this id>:<storage key>`, followed by `:<place>` in a list; the prefix `client:` is
    /// not added to an id that already has it.
    public func clientID(storageKey: String, place: String? = nil) -> DataID {
        var id = rawValue.hasPrefix("client:") ? rawValue : "client:" + rawValue
        id += ":" + storageKey
        if let place { id += ":" + place }
        return DataID(id)
    }
}
