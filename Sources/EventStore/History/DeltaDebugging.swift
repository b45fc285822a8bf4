/// Finds a small part of a list that still has a property of the whole.
///
/// Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): removes pieces, large
/// ones first and then ever smaller ones, as long as the property is kept. The result is 1-minimal: without
/// any one of its elements, the property is lost. If one element out of n matters, it calls `holds` about 2
/// log n times.
package enum DeltaDebugging {
    /// - Parameters:
    ///   - elements: have the property.
    ///   - holds: whether some of the elements, in their order, have it.
    package static func minimize<Element>(
        _ elements: [Element], holds: ([Element]) throws -> Bool
    ) rethrows -> [Element] {
        var rest = elements
        if rest.isEmpty { return rest }
        if try holds([]) { return [] }
        var pieceCount = 2
        while rest.count > 1 {
            if let smaller = try smaller(rest, in: pieceCount, holds: holds) {
                // If one of two pieces was enough, it is halved again. Otherwise one of many was not needed.
                pieceCount = pieceCount == 2 ? 2 : max(2, pieceCount - 1)
                rest = smaller
            } else if pieceCount < rest.count {
                pieceCount = min(rest.count, pieceCount * 2)
            } else {
                break
            }
        }
        return rest
    }

    /// The elements without one of this many pieces; nil if every piece is needed.
    private static func smaller<Element>(
        _ elements: [Element], in pieceCount: Int, holds: ([Element]) throws -> Bool
    ) rethrows -> [Element]? {
        // Tries to keep the end first, because failures are mostly at the end of a log.
        for piece in 0..<min(pieceCount, elements.count) {
            let start = elements.count * piece / pieceCount
            let end = elements.count * (piece + 1) / pieceCount
            let rest = Array(elements[..<start] + elements[end...])
            if try holds(rest) { return rest }
        }
        return nil
    }
}
