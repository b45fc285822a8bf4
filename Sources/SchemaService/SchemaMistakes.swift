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

    /// Each mistake, and below it the lines of the schema that it is in.
    package var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}

/// One thing that is wrong with a service's schema, and what to write instead.
package struct SchemaMistake: Hashable, Sendable, CustomStringConvertible {
    package let message: String
    /// The first is where the mistake is; empty for what is missing altogether.
    package let places: [SourcePlace]
    /// How people know the schema; nil where there is only one that it can be.
    fileprivate(set) var file: String?

    package init(_ message: String, at places: [SourcePlace]) {
        self.message = message
        self.places = places
    }

    /// `file:line:column: message`, without what is not known.
    package var summary: String {
        let place = places.first.map { "\($0.location.line):\($0.location.column)" }
        let known = [file, place].compactMap(\.self).map { $0 + ":" }.joined()
        return known.isEmpty ? message : "\(known) \(message)"
    }

    /// The summary, and below it each line that it mentions, with carets under the places.
    package var description: String {
        ([summary] + SourceExcerpt.excerpts(of: places)).joined(separator: "\n")
    }
}

/// Collects mistakes while a schema is read, so that all of them can be reported at once.
///
/// A class, because all readers of parts of the schema write into the same one.
final class MistakeCollector {
    private var found: [SchemaMistake] = []
    private var known: Set<SchemaMistake> = []
    private let schema: Schema
    private let language: [SchemaMistake]

    /// - Parameter language: what the language has against the schema. Where it has said something, no
    ///   second mistake is noted: that would only follow from the first.
    init(_ schema: Schema, language: [SchemaError] = []) {
        self.schema = schema
        self.language = language.map(SchemaMistake.init)
    }

    /// Notes a mistake; what two fields share and both complain about is noted once.
    func report(_ message: String, at location: Int) {
        let mistake = SchemaMistake(message, at: schema.place(of: location).map { [$0] } ?? [])
        if known.insert(mistake).inserted { found.append(mistake) }
    }

    /// Notes a mistake that has no place in the schema.
    func report(_ message: String) {
        let mistake = SchemaMistake(message, at: [])
        if known.insert(mistake).inserted { found.append(mistake) }
    }

    /// - Throws: all mistakes, in the order of their places, if there are any.
    func throwIfAny() throws(SchemaMistakes) {
        let said = Set(language.compactMap(\.places.first))
        let all = language + found.filter { $0.places.first.map(said.contains) != true }
        guard !all.isEmpty else { return }
        throw SchemaMistakes(all)
    }
}

extension SchemaMistakes {
    init(_ mistakes: [SchemaMistake]) {
        self.mistakes = mistakes.enumerated()
            .sorted { left, right in
                let (first, second) = (left.element.order, right.element.order)
                return first != second
                    ? first.lexicographicallyPrecedes(second) : left.offset < right.offset
            }
            .map(\.element)
    }

    /// What the language has against a schema.
    init(_ errors: SchemaErrors) {
        self.init(errors.errors.map(SchemaMistake.init))
    }
}

extension SchemaMistake {
    init(_ error: SchemaError) { self.init(error.message, at: error.places) }

    /// What has no place comes first.
    fileprivate var order: [Int] { places.first?.order ?? [] }
}
