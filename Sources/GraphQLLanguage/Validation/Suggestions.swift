/// The part of a message that suggests what may have been meant, with graphql-js' wording: ` Did
/// you mean "a", "b", or "c"?`; empty without suggestions.
package func didYouMean(_ suggestions: [String], _ what: String = "") -> String {
    guard let last = suggestions.prefix(5).last else { return "" }
    let start = " Did you mean " + (what.isEmpty ? "" : what + " ")
    let others = suggestions.prefix(5).dropLast().map { "\"\($0)\"" }
    switch others.count {
    case 0: return start + "\"\(last)\"?"
    case 1: return start + "\(others[0]) or \"\(last)\"?"
    default: return start + others.joined(separator: ", ") + ", or \"\(last)\"?"
    }
}

/// Those of `options` that `input` may be a misspelling of, nearest first.
package func suggestions(for input: String, among options: [String]) -> [String] {
    let measure = LexicalDistance(to: input)
    var distances: [(option: String, distance: Int)] = []
    for option in Set(options) {
        guard let distance = measure.distance(to: option) else { continue }
        distances.append((option, distance))
    }
    return distances.sorted {
        $0.distance != $1.distance
            ? $0.distance < $1.distance : naturallyPrecedes($0.option, $1.option)
    }
    .map(\.option)
}

/// Damerau-Levenshtein distance (optimal string alignment) with graphql-js' two special cases: a
/// difference in case alone counts 1, and anything beyond the threshold counts as unrelated.
private struct LexicalDistance {
    private let input: String
    private let inputLowercased: [UInt16]
    private let threshold: Int

    init(to input: String) {
        self.input = input
        self.inputLowercased = Array(input.lowercased().utf16)
        self.threshold = input.utf16.count * 2 / 5 + 1
    }

    /// The number of single-character edits; nil beyond the threshold.
    func distance(to option: String) -> Int? {
        if option == input { return 0 }
        let option = Array(option.lowercased().utf16)
        if option == inputLowercased { return 1 }
        let (long, short) =
            option.count < inputLowercased.count
            ? (inputLowercased, option) : (option, inputLowercased)
        guard long.count - short.count <= threshold else { return nil }

        // Row i holds the distances between the first i characters of `long` and every prefix of
        // `short`; a swap of neighbours looks two rows back.
        var beforeLast: [Int] = []
        var last = Array(0...short.count)
        for i in 1..<(long.count + 1) {
            var row = [i]
            row.reserveCapacity(short.count + 1)
            for (j, character) in zip(1..., short) {
                let substitution = last[j - 1] + (long[i - 1] == character ? 0 : 1)
                var cell = min(last[j] + 1, row[j - 1] + 1, substitution)
                if i > 1, j > 1, long[i - 1] == short[j - 2], long[i - 2] == character {
                    cell = min(cell, beforeLast[j - 2] + 1)
                }
                row.append(cell)
            }
            if let smallest = row.min(), smallest > threshold { return nil }
            beforeLast = last
            last = row
        }
        return last[short.count] <= threshold ? last[short.count] : nil
    }
}

/// Alphabetical order in which runs of digits compare as numbers: `a2` before `a10`.
func naturallyPrecedes(_ left: String, _ right: String) -> Bool {
    var left = Substring(left).utf8
    var right = Substring(right).utf8
    while let a = left.first, let b = right.first {
        if a.isDigit, b.isDigit {
            let leftNumber = left.prefix(while: \.isDigit)
            let rightNumber = right.prefix(while: \.isDigit)
            let leftDigits = leftNumber.drop { $0 == UInt8(ascii: "0") }
            let rightDigits = rightNumber.drop { $0 == UInt8(ascii: "0") }
            if leftDigits.count != rightDigits.count { return leftDigits.count < rightDigits.count }
            if !leftDigits.elementsEqual(rightDigits) {
                return leftDigits.lexicographicallyPrecedes(rightDigits)
            }
            left = left.dropFirst(leftNumber.count)
            right = right.dropFirst(rightNumber.count)
        } else {
            if a != b { return a < b }
            left = left.dropFirst()
            right = right.dropFirst()
        }
    }
    return left.isEmpty && !right.isEmpty
}
