package import GraphQLLanguage
package import RelayJSON

/// Something that is wrong with documents, as compilers say it, so that editors and build systems show it at its place:
///
///     Sources/App/List.swift:12:9: error: Cannot query field "nam" on type "User". Did you mean "name"?
///       12 |         nam
///          |         ^
///
/// Lines count from 1. So do columns, in UTF-16 code units, as editors count them.
package struct Diagnostic: Error, Hashable, Sendable {
    package enum Severity: String, Hashable, Sendable {
        case error
        case warning
    }

    /// A further place, and what it has to do with the error.
    package struct Note: Hashable, Sendable {
        package let message: String
        package let place: SourcePlace

        package init(_ message: String, at place: SourcePlace) {
            self.message = message
            self.place = place
        }
    }

    package let severity: Severity
    package let message: String
    /// Nil for an error of a whole program.
    package let place: SourcePlace?
    package private(set) var notes: [Note]

    package init(
        _ message: String, at place: SourcePlace?, notes: [Note] = [], severity: Severity = .error
    ) {
        self.severity = severity
        self.message = message
        self.place = place
        self.notes = notes
    }

    /// An error with several places, of which none is more to blame than the others. Those in the line of the first
    /// get carets, too; the others are notes.
    package init(_ message: String, at places: [SourcePlace]) {
        self.init(
            message, at: places.first,
            notes: places.dropFirst().map { Note(Self.alsoHere, at: $0) })
    }

    /// An error of one document.
    package init(_ error: DocumentError, in source: Source) {
        self.init(
            error.message,
            at: error.locations.map { SourcePlace(source: source, location: $0) })
    }

    /// An error of a schema.
    package init(_ error: SchemaError) { self.init(error.message, at: error.places) }
}

extension Diagnostic: CustomStringConvertible {
    /// The message with its place, then the line with carets; then the notes, in the same way. No newline at the end.
    package var description: String {
        let isNear = { (note: Note) in
            note.place.file == place?.file && note.place.location.line == place?.location.line
                && note.message == Self.alsoHere
        }
        let near = notes.filter(isNear).map(\.place)
        let parts =
            [Self.text(severity.rawValue, message, (place.map { [$0] } ?? []) + near)]
            + notes.filter { !isNear($0) }.map { Self.text("note", $0.message, [$0.place]) }
        return parts.joined(separator: "\n")
    }

    private static func text(_ kind: String, _ message: String, _ places: [SourcePlace]) -> String {
        let message = "\(kind): \(message)"
        guard let place = places.first else { return message }
        let location = place.location
        return
            (["\(place.file):\(location.line):\(location.column): \(message)"]
            + SourceExcerpt.excerpts(of: places)).joined(separator: "\n")
    }

    private static var alsoHere: String { "Here, too." }
}

extension Diagnostic {
    /// All errors as a compiler prints them (``sorted(_:)``).
    package static func text(of diagnostics: [Diagnostic]) -> String {
        sorted(diagnostics).map(\.description).joined(separator: "\n")
    }

    /// By file, then by place, each once. Those of a whole program are first. What two rules say of one place is one
    /// error, with the further places of both.
    package static func sorted(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        var merged: [Diagnostic] = []
        var indices: [Identity: Int] = [:]
        for diagnostic in diagnostics {
            if let index = indices[diagnostic.identity] {
                merged[index].add(diagnostic.notes)
            } else {
                indices[diagnostic.identity] = merged.count
                merged.append(diagnostic)
            }
        }
        return merged.sorted { $0.precedes($1) }
    }

    /// Errors with the same one are the same.
    private struct Identity: Hashable {
        let severity: Severity
        let message: String
        let file: String?
        let location: SourceLocation?
    }

    private var identity: Identity {
        Identity(
            severity: severity, message: message, file: place?.file, location: place?.location)
    }

    private mutating func add(_ others: [Note]) {
        notes += others.filter { other in
            !notes.contains {
                $0.message == other.message && $0.place.file == other.place.file
                    && $0.place.location == other.place.location
            }
        }
    }

    private func precedes(_ other: Diagnostic) -> Bool {
        guard let place, let otherPlace = other.place else {
            return place == nil && (other.place != nil || message < other.message)
        }
        if place.file != otherPlace.file { return place.file < otherPlace.file }
        let (own, others) = (place.location, otherPlace.location)
        if own.line != others.line { return own.line < others.line }
        return own.column != others.column ? own.column < others.column : message < other.message
    }
}

extension Diagnostic {
    /// For editors: `{"severity": "error", "file": …, "line": …, "column": …, "message": …}`. If there are further places,
    /// also `"related": [{"file": …, "line": …, "column": …, "message": …}]`.
    package var json: JSONObject {
        var json: JSONObject = ["severity": .string(severity.rawValue)]
        if let place { Self.add(place, to: &json) }
        json["message"] = .string(message)
        if notes.isEmpty { return json }
        json["related"] = .array(
            notes.map { note in
                var json: JSONObject = [:]
                Self.add(note.place, to: &json)
                json["message"] = .string(note.message)
                return .object(json)
            })
        return json
    }

    private static func add(_ place: SourcePlace, to json: inout JSONObject) {
        json["file"] = .string(place.file)
        json["line"] = .int(Int64(place.location.line))
        json["column"] = .int(Int64(place.location.column))
    }
}

extension SourcePlace {
    /// The name of the file that lines and columns are counted in.
    package var file: String { source.file.name }
}
