/// What is selected on one object, one field for each name in the response, in order.
///
/// Two fields with the same name are one: validation ensured that they mean the same. Of several leaves one is kept,
/// but all links, because each may select something else of the linked objects.
package struct MergedFields<Leaf, Link> {
    package enum Field {
        case leaf(Leaf)
        /// At least one.
        case links([Link])
    }

    private var names: [String] = []
    private var fields: [String: Field] = [:]

    package init() {}

    /// - Parameter join: gives the first leaf of a name what it lacks of a later one.
    package mutating func add(
        _ name: String, leaf: Leaf, join: (inout Leaf, Leaf) -> Void = { _, _ in }
    ) {
        switch fields[name] {
        case nil: append(name, .leaf(leaf))
        case .leaf(var first)?:
            join(&first, leaf)
            fields[name] = .leaf(first)
        case .links?: break
        }
    }

    package mutating func add(_ name: String, link: Link) {
        switch fields[name] {
        case nil: append(name, .links([link]))
        case .links(let links)?: fields[name] = .links(links + [link])
        case .leaf?: break
        }
    }

    private mutating func append(_ name: String, _ field: Field) {
        names.append(name)
        fields[name] = field
    }

    package subscript(name: String) -> Field? { fields[name] }

    /// The fields in order.
    package var all: [(name: String, field: Field)] {
        names.compactMap { name in fields[name].map { (name, $0) } }
    }
}
