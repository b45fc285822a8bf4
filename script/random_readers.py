"""Swift code that reads random documents with generated types, field by field, as a program would write it."""

import contextlib

import graphql as g

from random_documents import ADDED, Field, Inline, Spread, is_left_out

PACKAGE = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Reader",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "relay-swift", path: "%s")],
    targets: [
        .executableTarget(
            name: "Reader",
            dependencies: [
                .product(name: "Relay", package: "relay-swift"),
                .product(name: "RelayNetwork", package: "relay-swift"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ])
"""

SUPPORT = """import Foundation
import Relay

/// What was read. Two readings of one object are merged.
enum JSON {
    case null
    case leaf(String)
    case list([JSON])
    case object(Fields)

    var text: String {
        switch self {
        case .null: "null"
        case .leaf(let text): text
        case .list(let items): "[" + items.map(\\.text).joined(separator: ", ") + "]"
        case .object(let fields):
            "{" + fields.all.map { quoted($0) + ": " + $1.text }.joined(separator: ", ") + "}"
        }
    }

    func merged(_ other: JSON) -> JSON {
        switch (self, other) {
        case (.null, _): return other
        case (_, .null): return self
        case (.leaf(let one), .leaf(let two)) where one == two: return self
        case (.list(let one), .list(let two)) where one.count == two.count:
            return .list(zip(one, two).map { $0.merged($1) })
        case (.object(let one), .object(let two)):
            let fields = Fields()
            fields.all = one.all.merging(two.all) { $0.merged($1) }
            return .object(fields)
        default: return .leaf(quoted("conflict of " + text + " and " + other.text))
        }
    }
}

final class Fields {
    var all: [String: JSON] = [:]

    func put(_ key: String, _ value: JSON) { all[key] = (all[key] ?? .null).merged(value) }

    func merge(_ other: JSON) {
        switch other {
        case .null: break
        case .object(let fields): for (key, value) in fields.all { put(key, value) }
        default: put("not an object", other)
        }
    }
}

func quoted(_ text: String) -> String {
    String(decoding: (try? JSONEncoder().encode(text)) ?? Foundation.Data(), as: UTF8.self)
}

protocol Leaf { var json: JSON { get } }
extension String: Leaf { var json: JSON { .leaf(quoted(self)) } }
extension Int: Leaf { var json: JSON { .leaf("\\(self)") } }
extension Double: Leaf { var json: JSON { .leaf("\\(self)") } }
extension Bool: Leaf { var json: JSON { .leaf("\\(self)") } }
extension Optional: Leaf where Wrapped: Leaf { var json: JSON { self?.json ?? .null } }
extension Array: Leaf where Element: Leaf { var json: JSON { .list(map(\\.json)) } }
extension Priority: Leaf { var json: JSON { rawValue.json } }

/// A leaf that is never nil.
protocol PresentLeaf: Leaf {}
extension String: PresentLeaf {}
extension Int: PresentLeaf {}
extension Double: PresentLeaf {}
extension Bool: PresentLeaf {}
extension Array: PresentLeaf where Element: Leaf {}
extension Priority: PresentLeaf {}

func leaf(_ value: some Leaf) -> JSON { value.json }
func present(_ value: some PresentLeaf) -> JSON { value.json }
/// What may be nil, or is never nil, as a program may treat both.
func some<T>(_ value: T?) -> T? { value }
func fragment<T>(_ data: T?, _ read: (T) -> JSON) -> JSON {
    data.map(read) ?? .leaf(quoted("the fragment has no data"))
}

struct Reader {
    let network: any Network

    /// Each document has a store of its own, so that none finds what another has fetched.
    func answer<Q: Relay.Operation>(
        _ name: String, _ query: Q, _ read: (Q.Data, Environment) -> JSON
    ) async {
        let environment = Environment(network: network, store: Store())
        var text: String
        do {
            let result = try await environment.fetch(query)
            text = result.data.map { read($0, environment).text } ?? quoted("there is no data")
        } catch {
            text = quoted("\\(error)")
        }
        print(name + "\\t" + text)
    }
}
"""


def main(parts):
    calls = "\n".join(f"        await reader.read{number}()" for number in range(parts))
    return f"""import Foundation
import Relay
import RelayNetwork

@main struct Main {{
    static func main() async throws {{
        let reader = Reader(network: try WebSocketNetwork(url: CommandLine.arguments[1]))
{calls}
    }}
}}
"""


def part(number, documents):
    texts = ["import Relay\n"]
    calls = []
    for document in documents:
        if document.is_mutation:
            continue
        texts.append(function(f"{document.name}.Data", f"read_{document.name}", [(document.selection, False, {})], document.root, document.schema))
        for fragment in document.fragments:
            if fragment.is_masked:
                texts.append(function(f"{fragment.name}.Data", f"read_{fragment.name}", [(fragment.selection, False, {})], fragment.on, document.schema))
        calls.append(f'        await answer("{document.name}", {document.name}({arguments(document)}), read_{document.name})')
    texts.append(f"extension Reader {{\n    func read{number}() async {{\n" + "\n".join(calls) + "\n    }\n}\n")
    return "\n".join(texts)


def arguments(document):
    given, nulls = [], []
    for name, variable in document.variables.items():
        if not variable.is_given:
            continue
        if variable.value is None:
            nulls.append("." + name)
        else:
            given.append(f"{name}: {swift(variable.type, variable.value)}")
    if not nulls:
        return ", ".join(given)
    return "variables: .init(" + ", ".join([*given, f"null: [{', '.join(nulls)}]"]) + ")"


def swift(type, value):
    if g.is_non_null_type(type):
        return swift(type.of_type, value)
    if g.is_list_type(type):
        return "[" + ", ".join(swift(type.of_type, item) for item in value) + "]"
    if g.is_enum_type(type):
        return "." + value.lower()
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def function(data, name, sources, type, schema):
    writer = Writer(schema)
    writer.line(f"func {name}(_ d: {data}, _ environment: Environment) -> JSON {{")
    with writer.inner():
        writer.line(f"return .object({writer.object(sources, type)})")
    writer.line("}")
    return "\n".join([*writer.lines, ""])


class Found:
    """The fields, fragments and aliases of one type's records; each with whether a condition may leave it out."""

    def __init__(self):
        self.fields, self.spreads, self.aliases = {}, {}, []


def collect(selection, is_conditional, object, schema, found):
    for entry in selection:
        if is_left_out(entry):
            continue
        conditional = is_conditional or any(value.name is not None for _, value in entry.directives)
        if isinstance(entry, Field):
            found.fields.setdefault(entry.key, []).append((entry, conditional))
        elif entry.alias:
            inner = [Spread(entry.fragment, {}, [])] if isinstance(entry, Spread) else entry.selection
            on = entry.fragment.on if isinstance(entry, Spread) else entry.on
            found.aliases.append((entry.alias, on, inner))
        elif isinstance(entry, Spread) and entry.fragment.is_masked:
            name = entry.fragment.name
            found.spreads[name] = found.spreads.get(name, True) and conditional
        else:
            inner = entry.fragment.selection if isinstance(entry, Spread) else entry.selection
            on = entry.fragment.on if isinstance(entry, Spread) else entry.on
            if on is None or object is not None and (on is object or g.is_abstract_type(on) and schema.is_sub_type(on, object)):
                collect(inner, conditional, object, schema, found)


def possible(type, schema):
    return [type] if g.is_object_type(type) else schema.get_possible_types(type)


def objects(selection, inside, place, schema, found):
    """The object types that inline fragments tell apart, in order. `inside` is the type of the fragment around."""
    for entry in selection:
        if isinstance(entry, Inline) and not entry.alias and not is_left_out(entry):
            on = entry.on or inside
            # A condition that holds anyway tells nothing apart.
            if g.is_abstract_type(on) and schema.is_sub_type(on, inside):
                on = inside
            if on is not inside:
                if not set(possible(on, schema)) & set(possible(inside, schema)):
                    continue
                for type in possible(on, schema):
                    if schema.is_sub_type(place, type) and type not in found:
                        found.append(type)
            objects(entry.selection, on, place, schema, found)


class Writer:
    """Statements that read `d`, whatever it is at the place.

    Sources are selections of one object; each with whether a condition may leave it out, and with the fields that the
    compiler adds to it, which are there in any case.
    """

    def __init__(self, schema):
        self.schema, self.lines, self.depth, self.names = schema, [], 0, 0

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    @contextlib.contextmanager
    def inner(self):
        self.depth += 1
        yield
        self.depth -= 1

    def name(self, word):
        self.names += 1
        return f"{word}{self.names}"

    def object(self, sources, type):
        """Reads the fields of an object; the name of what holds them."""
        fields = self.name("fields")
        self.line(f"let {fields} = Fields()")
        variants = []
        if g.is_abstract_type(type):
            for selection, _, _ in sources:
                objects(selection, type, type, self.schema, variants)
        word = "if"
        for variant in variants:
            self.line(f"{word} let d = d.as{variant} {{")
            with self.inner():
                self.fields(fields, sources, variant)
            word = "} else if"
        if variants:
            self.line("} else if case .other(let d) = d {")
        with self.inner() if variants else contextlib.nullcontext():
            self.fields(fields, sources, None if g.is_abstract_type(type) else type)
        if variants:
            self.line("}")
        return fields

    def fields(self, fields, sources, object):
        found, added = Found(), {}
        for selection, conditional, more in sources:
            collect(selection, conditional, object, self.schema, found)
            added |= more
        if not (found.fields or found.spreads or found.aliases):
            self.line("_ = d")
        for key, places in found.fields.items():
            field, conditional = places[0][0], all(conditional for _, conditional in places)
            if field.selection:
                # What is selected under a condition is there whenever the field is, unless it is there without it, too.
                is_alone = len(places) == 1 and key not in added
                inner = [(place.selection, conditional and not is_alone, ADDED if place.connection else added.get(key, {}))
                         for place, conditional in places]
                self.value(f"d.`{key}`", field.type, inner, lambda json: f'{fields}.put("{key}", {json})')
            else:
                word = "present" if g.is_non_null_type(field.type) and not conditional else "leaf"
                self.line(f'{fields}.put("{key}", {word}(d.`{key}`))')
        for name, conditional in found.spreads.items():
            opened = f"{fields}.merge(fragment(environment.lookup({name}(%s)).data) {{ read_{name}($0, environment) }})"
            if conditional:
                self.line(f"if let pointer = some(d.fragment_{name}) {{ {opened % 'fragmentPointer: pointer'} }}")
            else:
                self.line(opened % "key: d")
        for alias, on, selection in found.aliases:
            self.value(f"d.{alias}", on, [(selection, False, {})], lambda json: f"{fields}.merge({json})")

    def value(self, value, type, sources, given):
        """Reads an object, or a list of objects; `given` is the statement that takes what was read."""
        type = g.get_nullable_type(type)
        self.line(f"if let d = some({value}) {{")
        with self.inner():
            if g.is_list_type(type):
                items = self.name("items")
                self.line(f"var {items}: [JSON] = []")
                self.line("for d in d {")
                with self.inner():
                    self.value("d", type.of_type, sources, lambda json: f"{items}.append({json})")
                self.line("}")
                self.line(given(f".list({items})"))
            else:
                self.line(given(f".object({self.object(sources, type)})"))
        self.line(f"}} else {{ {given('.null')} }}")
