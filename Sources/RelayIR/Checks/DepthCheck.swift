import GraphQLLanguage

/// How deep the selection sets of documents nest, with the fragments that they spread.
///
/// Everything else visits documents by recursion, so this comes first, and its own recursion ends at the limit. Each
/// fragment is measured once.
struct DepthCheck {
    /// Several times what a server takes, and a small part of what a thread's stack does.
    static let limit = 400

    private enum Progress {
        case measuring
        case measured(Int)
    }

    private struct TooDeep: Error { let location: Int }

    private let documents: DocumentSet
    private var progress: [String: Progress] = [:]

    private init(_ documents: DocumentSet) { self.documents = documents }

    /// - Returns: the first definition that nests too deep, if there is one.
    static func issue(_ documents: DocumentSet) -> DocumentIssue? {
        var check = DepthCheck(documents)
        do throws(TooDeep) {
            for operation in documents.operations {
                _ = try check.depth(operation.selectionSet, level: 1)
            }
            for fragment in documents.fragments { _ = try check.depth(fragment, level: 1) }
            return nil
        } catch {
            return DocumentIssue(
                "Selection sets, with the fragments that they spread, nest deeper than \(limit) levels here.",
                at: [error.location])
        }
    }

    /// - Parameter level: how many selection sets are around it, and it.
    /// - Returns: how many selection sets nest in it, and it.
    private mutating func depth(_ set: SelectionSet, level: Int) throws(TooDeep) -> Int {
        guard level <= Self.limit else { throw TooDeep(location: set.location) }
        var deepest = 0
        for selection in set.selections {
            switch selection {
            case .field(let field):
                guard let inner = field.selectionSet else { continue }
                deepest = max(deepest, try depth(inner, level: level + 1))
            case .inlineFragment(let fragment):
                deepest = max(deepest, try depth(fragment.selectionSet, level: level + 1))
            case .fragmentSpread(let spread):
                guard let fragment = documents.fragment(named: spread.name.value) else { continue }
                let inner = try depth(fragment, level: level + 1)
                guard level + inner <= Self.limit else { throw TooDeep(location: spread.location) }
                deepest = max(deepest, inner)
            }
        }
        return deepest + 1
    }

    private mutating func depth(
        _ fragment: FragmentDefinition, level: Int
    ) throws(TooDeep) -> Int {
        let name = fragment.name.value
        switch progress[name] {
        case .measured(let depth)?: return depth
        case .measuring?: return 0  // a cycle, which validation refuses
        case nil: break
        }
        progress[name] = .measuring
        let depth = try depth(fragment.selectionSet, level: level)
        progress[name] = .measured(depth)
        return depth
    }
}
