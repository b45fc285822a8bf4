package import GraphQLLanguage

/// Everything that is wrong with a service's schema, in the order of the places.
package struct SchemaMistakes: Error, Hashable, Sendable, CustomStringConvertible {
    package let mistakes: [SchemaMistake]

    /// The same, each with the name of the file that it is in.
    package func named(_ file: String) -> SchemaMistakes {
        SchemaMistakes(
            named: mistakes.map { mistake in
                var mistake = mistake
                mistake.file = file
                return mistake
            })
    }

    private init(named mistakes: [SchemaMistake]) { self.mistakes = mistakes }

    /// One mistake a line.
    package var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}

/// One thing that is wrong with a service's schema, and what to write instead.
package struct SchemaMistake: Hashable, Sendable, CustomStringConvertible {
    package let message: String
    /// Nil for what is missing altogether.
    package let location: SourceLocation?
    /// How people know the schema; nil where there is only one that it can be.
    fileprivate(set) var file: String?

    package init(_ message: String, at location: SourceLocation?) {
        self.message = message
        self.location = location
    }

    /// `file:line:column: message`, without what is not known.
    package var description: String {
        let place = location.map { "\($0.line):\($0.column)" }
        return [file, place].compactMap(\.self).map { $0 + ":" }.joined()
            + (file == nil && place == nil ? message : " \(message)")
    }
}

/// Gathers mistakes while a schema is read, so that all of them can be told at once.
///
/// A class, because all readers of parts of the schema write into the same one.
final class MistakeCollector {
    private var found: [SchemaMistake] = []
    private var known: Set<SchemaMistake> = []
    private let schema: Schema
    private let language: [SchemaMistake]

    /// - Parameter language: what the language has against the schema. Where it has said something, no
    ///   second mistake is noted: that would only follow from the first.
    init(_ schema: Schema, language: [GraphQLError] = []) {
        self.schema = schema
        self.language = language.map(SchemaMistake.init)
    }

    /// Notes a mistake; what two fields share and both complain about is noted once.
    func report(_ message: String, at location: Int) {
        let mistake = SchemaMistake(message, at: schema.sourceLocation(of: location))
        if known.insert(mistake).inserted { found.append(mistake) }
    }

    /// Notes a mistake that has no place in the schema.
    func report(_ message: String) {
        let mistake = SchemaMistake(message, at: nil)
        if known.insert(mistake).inserted { found.append(mistake) }
    }

    /// - Throws: all mistakes, in the order of their places, if there are any.
    func throwIfAny() throws(SchemaMistakes) {
        let places = Set(language.map(\.location))
        let all = language + found.filter { $0.location == nil || !places.contains($0.location) }
        guard !all.isEmpty else { return }
        throw SchemaMistakes(all)
    }
}

extension SchemaMistakes {
    init(_ mistakes: [SchemaMistake]) {
        self.mistakes = mistakes.enumerated()
            .sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
            .map(\.element)
    }

    /// What the language has against a schema.
    init(_ errors: SchemaErrors) {
        self.init(errors.errors.map(SchemaMistake.init))
    }
}

extension SchemaMistake {
    init(_ error: GraphQLError) { self.init(error.message, at: error.locations.first) }

    /// Comparable: the line above the column.
    fileprivate var place: Int {
        location.map { $0.line << 32 | $0.column } ?? 0
    }
}
