// undocumented GRAPH…: names the public symbols of symbol graphs that have no documentation; exit status 1 if
// there are any. Part of script/document.

import Foundation

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable { var precise: String }
        struct Kind: Decodable { var identifier: String }
        struct Comment: Decodable {
            struct Line: Decodable { var text: String }
            var lines: [Line]
        }
        struct Location: Decodable {
            struct Position: Decodable { var line: Int }
            var uri: String
            var position: Position
        }
        var identifier: Identifier
        var kind: Kind
        var pathComponents: [String]
        var docComment: Comment?
        var location: Location?
    }

    struct Relationship: Decodable {
        var kind: String
        var source: String
        var target: String
    }

    var symbols: [Symbol]
    var relationships: [Relationship]
}

/// What conformances to the standard library's protocols bring: their documentation is the protocol's.
let conformances: Set<String> = [
    "==(_:_:)", "<(_:_:)", "hash(into:)", "hashValue", "description", "debugDescription",
    "encode(to:)", "init(from:)", "init(rawValue:)", "rawValue", "errorDescription", "id",
    "init(stringLiteral:)", "init(nilLiteral:)", "init(integerLiteral:)", "init(floatLiteral:)",
    "init(booleanLiteral:)", "init(arrayLiteral:)", "init(dictionaryLiteral:)", "allCases",
    "makeAsyncIterator()", "receive(subscriber:)", "next()", "next(isolation:)",
]
let associatedTypes: Set<String> = [
    "Output", "Failure", "Key", "Value", "Element", "AsyncIterator", "RawValue",
    "StringLiteralType", "IntegerLiteralType", "FloatLiteralType", "BooleanLiteralType",
    "ArrayLiteralElement", "AllCases", "ID", "UnicodeScalarLiteralType",
    "ExtendedGraphemeClusterLiteralType",
]

var isComplete = true
for path in CommandLine.arguments.dropFirst() {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let graph = try JSONDecoder().decode(Graph.self, from: data)
    // A member that fulfils a requirement of a protocol is documented there.
    let fulfilling = Set(
        graph.relationships.filter { $0.kind == "defaultImplementationOf" }.map(\.source))
    for symbol in graph.symbols where symbol.location != nil {
        let name = symbol.pathComponents.last ?? ""
        let isKnown =
            conformances.contains(name) || fulfilling.contains(symbol.identifier.precise)
            || (symbol.kind.identifier == "swift.typealias" && associatedTypes.contains(name))
        let isDocumented = symbol.docComment?.lines.contains { !$0.text.isEmpty } ?? false
        if isDocumented || isKnown { continue }
        isComplete = false
        let place = symbol.location.map {
            ($0.uri as NSString).lastPathComponent + ":\($0.position.line + 1)"
        }
        print("\(place ?? ""): \(symbol.pathComponents.joined(separator: ".")) is undocumented")
    }
}
exit(isComplete ? 0 : 1)
