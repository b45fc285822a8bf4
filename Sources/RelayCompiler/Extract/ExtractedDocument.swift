package import GraphQLLanguage

/// One GraphQL document, and the file that it was found in.
package struct ExtractedDocument: Sendable {
    /// The kinds of files that have documents.
    package enum FileKind: Hashable, Sendable {
        /// A literal in Swift code.
        case swift
        /// A file that is the document.
        case graphQL
    }

    /// Its text. The places of errors in it are places in the file: lines and columns, and what ``SourceExcerpt`` shows.
    package let source: Source
    package let fileKind: FileKind

    /// The file's name, as it was given.
    package var file: String { source.file.name }

    /// The file's name without folders and extension: `List` for `Sources/App/List.swift`.
    package var fileBaseName: String { Self.baseName(of: file) }

    static func baseName(of file: String) -> String {
        let name = file.split(separator: "/").last ?? ""
        guard let period = name.lastIndex(of: "."), period > name.startIndex else {
            return String(name)
        }
        return String(name[..<period])
    }

    /// The place in the file of a node's `location`; also the line of the file that it is in.
    package func place(of location: Int) -> SourcePlace { source.place(of: location) }
}

/// A document that has been parsed.
package struct ParsedDocument: Sendable {
    package let extracted: ExtractedDocument
    package let document: Document
}
