import RelayArtifacts
import RelayJSON
@_spi(Rooms) public import RelayStore

/// Provides the fields of one record, as one selection set has them, to the data being made from it.
///
/// Fields requested in the order in which they are selected are found with one comparison; any other
/// order works too. Every kind of field has two forms: one for nullable types, which returns nil for null
/// and for unknown values, and one for non-null types, which throws a ``ReadError``.
///
/// It cannot be copied, and lives only while the data's initializer runs.
public struct RecordReader: ~Copyable {
    // Neither is retained here: `withReader` retains the node, with all nodes below it, and the origin.
    private var cursor: DataCursor
    private let source: Unmanaged<ReadOrigin>

    private init(_ cursor: DataCursor, _ source: Unmanaged<ReadOrigin>) {
        self.cursor = cursor
        self.source = source
    }

    /// Calls the body with what reads a node.
    static func withReader<R>(
        _ node: DataNode, _ origin: ReadOrigin, _ body: (inout RecordReader) throws -> R
    ) rethrows -> R {
        var reader = RecordReader(DataCursor(node), Unmanaged.passUnretained(origin))
        defer { withExtendedLifetime((node, origin)) {} }
        return try body(&reader)
    }

    private var origin: ReadOrigin { source.takeUnretainedValue() }

    /// The record's id.
    public var dataID: DataID { DataID(origin.symbols.idString(cursor.node.record)) }

    /// The name of the record's type.
    public var typename: String { cursor.node.typename }

    // MARK: Leaves

    /// A text, or an id.
    public mutating func string(_ name: StaticString) throws -> String {
        guard let value = try optionalString(name) else { throw absent(name) }
        return value
    }

    /// A text, or an id.
    public mutating func optionalString(_ name: StaticString) throws -> String? {
        do throws(DataError) { return try cursor.string(name) } catch { throw ReadError(error) }
    }

    /// A whole number.
    public mutating func int(_ name: StaticString) throws -> Int {
        guard let value = try optionalInt(name) else { throw absent(name) }
        return value
    }

    /// A whole number.
    public mutating func optionalInt(_ name: StaticString) throws -> Int? {
        do throws(DataError) { return try cursor.int(name) } catch { throw ReadError(error) }
    }

    /// A number.
    public mutating func double(_ name: StaticString) throws -> Double {
        guard let value = try optionalDouble(name) else { throw absent(name) }
        return value
    }

    /// A number.
    public mutating func optionalDouble(_ name: StaticString) throws -> Double? {
        do throws(DataError) { return try cursor.double(name) } catch { throw ReadError(error) }
    }

    /// A boolean.
    public mutating func bool(_ name: StaticString) throws -> Bool {
        guard let value = try optionalBool(name) else { throw absent(name) }
        return value
    }

    /// A boolean.
    public mutating func optionalBool(_ name: StaticString) throws -> Bool? {
        do throws(DataError) { return try cursor.bool(name) } catch { throw ReadError(error) }
    }

    /// An enum, a custom scalar, a list of leaves.
    public mutating func scalar<T: ReadableScalar>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> T {
        guard let value = try optionalScalar(name, type) else { throw absent(name) }
        return value
    }

    /// An enum, a custom scalar, a list of leaves.
    public mutating func optionalScalar<T: ReadableScalar>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> T? {
        let json: JSONValue?
        do throws(DataError) { json = try cursor.json(name) } catch { throw ReadError(error) }
        guard let json, json != .null else { return nil }
        guard let value = T(scalar: VariableValue(json)) else {
            throw ReadError(.mismatch(expected: "\(type)"), at: ["\(name)"])
        }
        return value
    }

    // MARK: What links lead to; see RecordReader+Links

    /// A reader for the record behind a link; nil if it is null or unknown.
    @usableFromInline
    mutating func child(_ name: StaticString) throws -> RecordReader? {
        do throws(DataError) {
            guard let cursor = try cursor.cursor(name) else { return nil }
            return RecordReader(cursor, source)
        } catch {
            throw ReadError(error)
        }
    }

    /// Readers for the records of a list; nil if it is null or unknown.
    @usableFromInline
    mutating func children(_ name: StaticString) throws -> RecordReaders? {
        do throws(DataError) {
            guard let list = try cursor.list(name) else { return nil }
            return RecordReaders(nodes: list.elements, source: source)
        } catch {
            throw ReadError(error)
        }
    }

    // MARK: Fragments and caught errors

    /// The pointer for a spread fragment, by the fragment's name.
    public func fragment(_ name: String) -> FragmentPointer {
        FragmentPointer(
            dataID: dataID, owner: origin.owner,
            arguments: cursor.node.reading.spreads[name] ?? SpreadArguments())
    }

    /// The same where `@include` or `@skip` may leave the fragment out; nil if it is not spread.
    public func optionalFragment(_ name: String) -> FragmentPointer? {
        cursor.node.reading.spreads[name].map {
            FragmentPointer(dataID: dataID, owner: origin.owner, arguments: $0)
        }
    }

    /// Whether a field is part of the selection: `@include` and `@skip` may leave it out. A field that is not cannot be
    /// read.
    public func selects(_ name: StaticString) -> Bool { cursor.selects(name) }

    /// A field with `@catch(to: RESULT)`: what `read` gives, or the errors of the field.
    public mutating func caught<T>(
        _ name: StaticString, _ read: (inout RecordReader) throws -> T
    ) throws -> Result<T, FieldErrors> {
        do {
            return .success(try read(&self))
        } catch let error as ReadError {
            guard case .failed(let errors) = error.reason else { throw error }
            return .failure(FieldErrors(errors: errors))
        }
    }

    @usableFromInline
    func absent(_ name: StaticString) -> ReadError { ReadError(.absent, at: ["\(name)"]) }
}

/// Readers for the records of a list.
@usableFromInline
struct RecordReaders {
    let nodes: ContiguousArray<DataNode?>
    let source: Unmanaged<ReadOrigin>

    @usableFromInline var count: Int { nodes.count }

    /// nil for null, and for a link to a deleted record.
    @usableFromInline
    func reader(_ place: Int) -> RecordReader? { RecordReader(nodes[place], source) }
}

extension RecordReader {
    /// nil for no node.
    fileprivate init?(_ node: DataNode?, _ source: Unmanaged<ReadOrigin>) {
        guard let node else { return nil }
        self.init(DataCursor(node), source)
    }
}

/// What all data of one reading has in common: the request that owns it, and the store's names.
final class ReadOrigin: Sendable {
    let owner: RequestDescriptor
    /// Held, so that the numbers of the records stay valid.
    private let source: SeenRecords

    init(owner: RequestDescriptor, _ read: SelectorSnapshot) {
        self.owner = owner
        source = read.source
    }

    var symbols: Symbols { source.symbols }
}
