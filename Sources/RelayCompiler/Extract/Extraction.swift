import GraphQLLanguage

/// The GraphQL documents of a program's files.
///
/// It reads no file; whoever does adds the bytes of one after the other. Of a Swift file without documents nothing is
/// kept.
///
/// For example:
///
///     var extraction = Extraction()
///     for path in paths { extraction.add(try bytes(of: path), file: path) }
///     let (documents, errors) = extraction.parse()
package struct Extraction: Sendable {
    /// In the order of the files, and of the places in them. Their locations are all different: one alone says in which
    /// document it is.
    package private(set) var documents: [ExtractedDocument] = []
    /// What is wrong with literals, so that they have no text.
    package private(set) var errors: [Diagnostic] = []
    private var end = -1

    package init() {}

    /// - Parameters:
    ///   - bytes: the file's contents. Malformed UTF-8 becomes U+FFFD.
    ///   - file: its name, as errors will give it. If that ends with `.swift`, the documents are literals in it (see
    ///     ``SwiftScanner``); any other file is a document.
    package mutating func add(_ bytes: [UInt8], file: String) {
        // Editors do not count a byte order mark as a column.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        let source = Source(utf8: text, name: file)
        guard file.hasSuffix(".swift") else {
            add(source, .graphQL)
            return
        }
        let (literals, errors) = SwiftScanner.scan(source)
        for literal in literals { add(literal, .swift) }
        self.errors += errors
    }

    private mutating func add(_ source: Source, _ kind: ExtractedDocument.FileKind) {
        let source = source.starting(at: end + 1)
        end = source.locations.upperBound
        documents.append(ExtractedDocument(source: source, fileKind: kind))
    }

    /// - Returns: the documents that have a syntax tree, and the errors of the others, together with ``errors``.
    package func parse() -> (documents: [ParsedDocument], errors: [Diagnostic]) {
        var parsed: [ParsedDocument] = []
        var errors = errors
        for extracted in documents {
            do throws(DocumentError) {
                let document = try Document(parsing: extracted.source)
                parsed.append(ParsedDocument(extracted: extracted, document: document))
            } catch {
                errors.append(Diagnostic(error, in: extracted.source))
            }
        }
        return (parsed, errors)
    }
}
