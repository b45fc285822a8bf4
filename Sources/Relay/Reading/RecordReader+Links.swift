// What is generic here is inlined into the program that has the data's types: reading a record is then a call of
// its initializer, and nothing is looked up about types while it runs.

extension RecordReader {
    /// The record behind a link.
    @inlinable
    public mutating func linked<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> T {
        guard let value = try optionalLinked(name, type) else { throw absent(name) }
        return value
    }

    /// The record behind a link; nil where it is null or unknown.
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
        var result: [T?] = []
        result.reserveCapacity(readers.count)
        for place in 0..<readers.count {
            guard var reader = readers[place] else {
                result.append(nil)
                continue
            }
            do {
                result.append(try T(&reader))
            } catch let error as ReadError {
                throw error.below("\(name)", "\(place)")
            }
        }
        return result
    }

    /// The records of a list whose type allows no null in it; links to deleted records are left out.
    @inlinable
    public mutating func completeList<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> [T] {
        guard let list = try optionalCompleteList(name, type) else { throw absent(name) }
        return list
    }

    /// The records of a list whose type allows no null in it; links to deleted records are left out.
    @inlinable
    public mutating func optionalCompleteList<T: ReadableRecord>(
        _ name: StaticString, _ type: T.Type = T.self
    ) throws -> [T]? {
        guard let readers = try children(name) else { return nil }
        var result: [T] = []
        result.reserveCapacity(readers.count)
        for place in 0..<readers.count {
            guard var reader = readers[place] else { continue }
            do {
                result.append(try T(&reader))
            } catch let error as ReadError {
                throw error.below("\(name)", "\(place)")
            }
        }
        return result
    }
}
