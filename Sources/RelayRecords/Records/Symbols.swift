import Synchronization
import Threads

/// The number of a record's id in the store's ``Symbols``.
@_spi(Rooms) public struct RecordIndex: Hashable, Sendable {
    @_spi(Rooms) public let rawValue: UInt32
    @inlinable @_spi(Rooms) public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable @_spi(Rooms) public static func == (one: RecordIndex, other: RecordIndex) -> Bool {
        one.rawValue == other.rawValue
    }
}

/// The number of a storage key or a type name in the store's ``Symbols``.
@_spi(Rooms) public struct NameIndex: Hashable, Sendable {
    @_spi(Rooms) public let rawValue: UInt32
    @inlinable @_spi(Rooms) public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable @_spi(Rooms) public static func == (one: NameIndex, other: NameIndex) -> Bool {
        one.rawValue == other.rawValue
    }
}

/// A store's names for its records, fields and types, and the shapes of its records.
///
/// Shared by all snapshots of a store. Any thread may look up and add; see ``SymbolTable``. Numbers are private
/// to the process: logs and messages carry the texts.
///
/// A client's store reuses the numbers of ids and of storage keys with arguments once they are no longer in use; see
/// ``SymbolCollection``. Code that adds without the writer's lock there pins (``NamePins``); code that keeps a record's
/// number beyond the snapshot that it comes from holds it (``SeenRecords``).
@_spi(Rooms) public final class Symbols: Sendable {
    @_spi(Rooms) public let ids = SymbolTable()
    @_spi(Rooms) public let names = SymbolTable()
    @_spi(Rooms) public let shapes = ShapeTable()
    private let hasElementErrors = Atomic(false)
    private let nullArguments = Lock<Set<String>>([])

    @_spi(Rooms) public init() {}

    // MARK: Record ids

    @inline(__always)
    @_spi(Rooms) public func id(_ record: RecordIndex) -> UnsafeBufferPointer<UInt8> {
        ids.text(record.rawValue)
    }

    @_spi(Rooms) public func idString(_ record: RecordIndex) -> String {
        ids.string(record.rawValue)
    }

    @_spi(Rooms) public func findRecord(_ id: String) -> RecordIndex? {
        ids.find(id).map(RecordIndex.init(rawValue:))
    }

    @_spi(Rooms) public func findRecord(_ id: UnsafeBufferPointer<UInt8>) -> RecordIndex? {
        ids.find(id).map(RecordIndex.init(rawValue:))
    }

    @_spi(Rooms) public func record(_ id: UnsafeBufferPointer<UInt8>) -> RecordIndex {
        RecordIndex(rawValue: ids.intern(id))
    }

    @_spi(Rooms) public func record(_ id: String) -> RecordIndex {
        RecordIndex(rawValue: ids.intern(id))
    }

    // MARK: Names

    @_spi(Rooms) public func nameString(_ name: NameIndex) -> String { names.string(name.rawValue) }

    @_spi(Rooms) public func nameText(_ name: NameIndex) -> UnsafeBufferPointer<UInt8> {
        names.text(name.rawValue)
    }

    @_spi(Rooms) public func findName(_ name: String) -> NameIndex? {
        names.find(name).map(NameIndex.init(rawValue:))
    }

    @_spi(Rooms) public func name(_ name: UnsafeBufferPointer<UInt8>) -> NameIndex {
        NameIndex(rawValue: names.intern(name))
    }

    @_spi(Rooms) public func name(_ name: String) -> NameIndex {
        NameIndex(rawValue: names.intern(name))
    }

    /// Whether a storage key has arguments: then there may be any number of them, otherwise as many as the schema has
    /// fields.
    @_spi(Rooms) public func hasArguments(_ name: NameIndex) -> Bool {
        nameText(name).contains(UInt8(ascii: "("))
    }

    static func hasArguments(_ name: String) -> Bool { name.utf8.contains(UInt8(ascii: "(")) }

    /// Texts that have a number.
    @_spi(Rooms) public var liveCount: Int { ids.liveCount + names.liveCount }

    // MARK: Null

    /// Takes over what an operation knows of the schema, before code that names fields at run time asks for it. There are
    /// as many names as the schemas of the store's operations have.
    @_spi(Rooms) public func noteNullArguments(_ names: [String]) {
        if names.isEmpty { return }
        nullArguments.withLock { $0.formUnion(names) }
    }

    /// Whether null for an argument makes another field than no value.
    func distinguishesNull(_ argument: String) -> Bool {
        nullArguments.withLock { $0.contains(argument) }
    }

    // MARK: Pinning

    func pin(_ name: String) -> NameIndex { NameIndex(rawValue: names.pin(name)) }

    func unpin(_ numbers: [UInt32]) { names.unpin(numbers) }

    // MARK: Errors of elements

    /// Whether a record may have errors about elements of a list. Nearly always none does, and nothing is looked up.
    @inline(__always)
    @_spi(Rooms) public var mayHaveElementErrors: Bool { hasElementErrors.load(ordering: .relaxed) }

    func noteElementErrors() { hasElementErrors.store(true, ordering: .relaxed) }

    /// Finds out whether the names known so far include such errors: for records from elsewhere.
    @_spi(Rooms) public func lookForElementErrors() {
        if names.contains(where: Self.isOfElementErrors) { noteElementErrors() }
    }
}
