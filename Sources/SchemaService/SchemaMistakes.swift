package import GraphQLLanguage

/// Everything that is wrong with a service's schema, in order of location.
package struct SchemaMistakes: Error, Hashable, Sendable, CustomStringConvertible {
    package let mistakes: [SchemaMistake]

    /// The same mistakes, each with the name of its file.
    package func named(_ file: String) -> SchemaMistakes { named { _ in file } }

    /// The same mistakes, each with the name of the document that it is in.
    /// - Parameter file: of those that are at no place.
    package func namedByDocument(else file: String) -> SchemaMistakes {
        named { $0.places.first?.source.name ?? file }
    }

    private func named(_ name: (SchemaMistake) -> String) -> SchemaMistakes {
        SchemaMistakes(
            named: mistakes.map { mistake in
                var named = mistake
                named.file = name(mistake)
                return named
            })
    }

    private init(named mistakes: [SchemaMistake]) { self.mistakes = mistakes }

    /// Each mistake, followed by the schema lines that it concerns.
    package var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}

/// One mistake in a service's schema, with what to write instead.
package struct SchemaMistake: Hashable, Sendable, CustomStringConvertible {
    package let message: String
    /// The first is where the mistake is; empty if something is missing altogether.
    package let places: [SourcePlace]
    /// The name of the schema, for people; nil if there can only be one.
    fileprivate(set) var file: String?

    package init(_ message: String, at places: [SourcePlace]) {
        self.message = message
        self.places = places
    }

    /// `file:line:column: message`, without the unknown parts.
    package var summary: String {
        let place = places.first.map { "\($0.location.line):\($0.location.column)" }
        let known = [file, place].compactMap(\.self).map { $0 + ":" }.joined()
        return known.isEmpty ? message : "\(known) \(message)"
    }

    /// The summary, followed by each line that it mentions, with carets under the places.
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

    /// - Parameter language: the language's own errors in the schema. Where there is one, no second mistake
    ///   is reported, because it would only be a consequence of the first.
    init(_ schema: Schema, language: [SchemaError] = []) {
        self.schema = schema
        self.language = language.map(SchemaMistake.init)
    }

    /// Records a mistake; if it concerns something shared by two fields, it is recorded once.
    func report(_ message: String, at location: Int) {
        let mistake = SchemaMistake(message, at: schema.place(of: location).map { [$0] } ?? [])
        if known.insert(mistake).inserted { found.append(mistake) }
    }

    /// Records a mistake that has no location in the schema.
    func report(_ message: String) {
        let mistake = SchemaMistake(message, at: [])
        if known.insert(mistake).inserted { found.append(mistake) }
    }

    /// - Throws: all mistakes, in order of location, if there are any.
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

    /// Wraps the language's errors in a schema.
    init(_ errors: SchemaErrors) {
        self.init(errors.errors.map(SchemaMistake.init))
    }
}

extension SchemaMistake {
    init(_ error: SchemaError) { self.init(error.message, at: error.places) }

    /// Mistakes without a location come first.
    fileprivate var order: [Int] { places.first?.order ?? [] }
}
