/// Subtype relations, computed once so that each question is a look-up.
struct TypeRelations: Sendable {
    /// By type: its possible object types.
    private var possible: [[TypeID]]
    /// By interface: the types that declare it.
    private var implementing: [[TypeID]]
    /// By type: `possible`, as bits.
    private var possibleSets: [TypeSet]
    /// By abstract type: all its subtypes, as bits.
    private var subtypeSets: [TypeSet]

    init(_ types: [NamedType]) {
        possible = Array(repeating: [], count: types.count)
        implementing = possible
        possibleSets = Array(repeating: TypeSet(), count: types.count)
        subtypeSets = possibleSets
        for type in types {
            if type.kind == .object { possible[type.id.index] = [type.id] }
            if type.kind == .union { possible[type.id.index] = type.members }
            for interface in type.interfaces {
                implementing[interface.index].append(type.id)
                if type.kind == .object { possible[interface.index].append(type.id) }
            }
        }
        for type in types {
            let index = type.id.index
            possibleSets[index] = TypeSet(possible[index])
            subtypeSets[index] = TypeSet(type.members + implementing[index])
        }
    }

    func possibleTypes(of id: TypeID) -> [TypeID] { possible[id.index] }

    func implementations(of id: TypeID) -> [TypeID] { implementing[id.index] }

    func isSubType(_ type: TypeID, of other: TypeID) -> Bool {
        subtypeSets[other.index].contains(type)
    }

    func overlap(_ type: TypeID, _ other: TypeID) -> Bool {
        possibleSets[type.index].intersects(possibleSets[other.index])
    }
}

/// A set of types as bits.
private struct TypeSet: Sendable {
    private var words: [UInt64] = []

    init(_ types: [TypeID] = []) {
        for type in types {
            let (word, bit) = type.index.quotientAndRemainder(dividingBy: 64)
            while words.count <= word { words.append(0) }
            words[word] |= 1 << UInt64(bit)
        }
    }

    func contains(_ type: TypeID) -> Bool {
        let (word, bit) = type.index.quotientAndRemainder(dividingBy: 64)
        return word < words.count && words[word] & (1 << UInt64(bit)) != 0
    }

    func intersects(_ other: TypeSet) -> Bool {
        zip(words, other.words).contains { $0 & $1 != 0 }
    }
}
