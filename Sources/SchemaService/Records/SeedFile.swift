@_spi(Rooms) package import RelayRecords

/// The records that a store starts with, read from a file with one JSON object per line and checked against
/// the schema.
///
/// Floats written as whole numbers become doubles, and ids written as numbers become strings, as in
/// arguments. If a line omits a non-null field with `@now`, the field gets the time of reading; an omitted
/// non-null list of scalars is empty, as in a record that is created.
package struct SeedFile: Sendable {
    /// All records, in the order of the lines.
    package let writes: WriteSet
    /// Links to records that are not in the file, one sentence each. Such a link reads as null, like one to a
    /// deleted record, so an export can always be read back.
    package let warnings: [String]

    /// - Parameters:
    ///   - bytes: the file. Empty lines are skipped.
    ///   - timeMicroseconds: for fields with `@now`, since 1970-01-01 00:00 UTC.
    /// - Throws: everything that is wrong, by line.
    package static func read(
        _ bytes: [UInt8], for schema: ServiceSchema, timeMicroseconds: Int64
    ) throws(SeedErrors) -> SeedFile {
        var reader = SeedReader(
            schema: schema,
            context: MutationContext(timeMicroseconds: timeMicroseconds))
        for (index, line) in bytes.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() {
            reader.read(line, number: index + 1)
        }
        reader.checkLinks()
        guard reader.errors.isEmpty else { throw SeedErrors(reader.errors) }
        return SeedFile(writes: reader.writer.writeSet, warnings: reader.warnings)
    }
}

/// Everything that is wrong with a seed file, in line order.
package struct SeedErrors: Error, Hashable, Sendable, CustomStringConvertible {
    package let errors: [SeedError]

    init(_ errors: [SeedError]) {
        self.errors = errors.enumerated()
            .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map(\.element)
    }

    /// The same errors, each with the name of its file.
    package func named(_ file: String) -> SeedErrors {
        SeedErrors(errors.map { SeedError(line: $0.line, message: $0.message, file: file) })
    }

    /// One error per line.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}

package struct SeedError: Hashable, Sendable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    package let message: String
    /// The name of the seed file, for people.
    var file: String?

    /// `file:line: message`, or `line 3: message`
    package var description: String {
        file.map { "\($0):\(line): \(message)" } ?? "line \(line): \(message)"
    }
}
