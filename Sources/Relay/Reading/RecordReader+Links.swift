// Generics here are inlined into the program that defines the data's types: reading a record is then a call of
// its initializer, without type look-ups at run time. Lists are written in place, because appending a large
// struct copies it.

extension RecordReader {
    /// The record behind a link.
    @inlinable
    public mutating func linked<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> T {
        // Not through the optional form: taking a large struct out of an optional copies it.
        guard var reader = try child(name) else { throw absent(name) }
        do {
            return try T(&reader)
        } catch let error as ReadError {
            throw error.below("\(name)")
        }
    }

    /// The record behind a link; nil if it is null or unknown.
    @inlinable
    public mutating func optionalLinked<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> T? {
        guard var reader = try child(name) else { return nil }
        do {
            return try T(&reader)
        } catch let error as ReadError {
            throw error.below("\(name)")
        }
    }

    /// The records of a list; null among them and links to deleted records are nil.
    @inlinable
    public mutating func list<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> [T?] {
        guard let list = try optionalList(name, type) else { throw absent(name) }
        return list
    }

    /// The records of a list; null among them and links to deleted records are nil.
    @inlinable
    public mutating func optionalList<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> [T?]? {
        guard let readers = try children(name) else { return nil }
        // An array without capacity is one that all threads share, and `unsafeUninitializedCapacity` writes to it.
        if readers.count == 0 { return [] }
        return try [T?](unsafeUninitializedCapacity: readers.count) { elements, count in
            while count < readers.count {
                elements.initializeElement(at: count, to: try readers.read(count, name))
                count += 1
            }
        }
    }

    /// The records of a list whose type does not allow null; links to deleted records are left out.
    @inlinable
    public mutating func completeList<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> [T] {
        guard let list = try optionalCompleteList(name, type) else { throw absent(name) }
        return list
    }

    /// The records of a list whose type does not allow null; links to deleted records are left out.
    @inlinable
    public mutating func optionalCompleteList<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> [T]? {
        guard let readers = try children(name) else { return nil }
        if readers.count == 0 { return [] }
        return try [T](unsafeUninitializedCapacity: readers.count) { elements, count in
            for place in 0..<readers.count {
                guard var reader = readers.reader(place) else { continue }
                do {
                    elements.initializeElement(at: count, to: try T(&reader))
                    count += 1
                } catch let error as ReadError {
                    throw error.below("\(name)", "\(place)")
                }
            }
        }
    }
}

extension RecordReaders {
    /// The record at a place of the list with this name.
    @inlinable
    func read<T: ReadableRecord>(_ place: Int, _ name: StaticString) throws -> T? {
        guard var reader = reader(place) else { return nil }
        do {
            return try T(&reader)
        } catch let error as ReadError {
            throw error.below("\(name)", "\(place)")
        }
    }
}
