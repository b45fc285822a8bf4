extension Character {
    /// How many columns of a terminal it takes: 0, 1 or 2.
    ///
    /// What stands alone and takes none, such as a control character or an accent without a letter, is never drawn.
    /// Characters whose width Unicode calls ambiguous take one.
    package var columnCount: Int {
        let utf8 = utf8
        if let first = utf8.first, first < 0x80, utf8.count == 1 {
            return first < 0x20 || first == 0x7F ? 0 : 1
        }
        let scalars = unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.index(after: scalars.startIndex) == scalars.endIndex {
            return first.columnCount
        }
        if utf8.count > Self.longestUTF8 { return 1 }
        // In a terminal that knows of graphemes; in one that does not, the parts. Too many columns leave a gap, too few
        // would have the next character drawn over this one.
        var sum = 0
        for scalar in scalars { sum += scalar.columnCount }
        if sum < 2, first.properties.isEmoji, scalars.contains(Unicode.Scalar.emojiStyle) {
            return 2
        }
        return min(sum, 2)
    }

    /// Whether terminals disagree on how many columns it takes, so that the cursor's place is not known after it.
    ///
    /// Single characters that are newer than the terminal's Unicode are not among these.
    package var isDisputed: Bool {
        let scalars = unicodeScalars
        guard let first = scalars.first else { return false }
        if first.joinsNext { return true }
        // A letter with accents is drawn in one cell everywhere. All else depends on whether the terminal knows of
        // graphemes, and of which: selectors of a presentation, joined emoji, skin tones, syllables of several letters.
        return scalars.dropFirst().contains { scalar in
            switch scalar.value {
            case 0x200D, 0xFE0E, 0xFE0F: true
            default:
                scalar.columnCount > 0 || scalar.properties.generalCategory == .spacingMark
            }
        }
    }

    /// A longer grapheme is a letter with dozens of accents, made to break things; it is drawn as U+FFFD.
    static let longestUTF8 = 128
}

extension Unicode.Scalar {
    /// Variation selector 16: draws what is before it as an emoji.
    static let emojiStyle: Unicode.Scalar = "\u{FE0F}"

    /// Whether it would become one grapheme with such a one in the next cell: half a flag, part of a Hangul syllable.
    var joinsNext: Bool {
        0x1F1E6...0x1F1FF ~= value || 0x1100...0x115F ~= value || 0xA960...0xA97C ~= value
    }

    /// How many columns it takes when it is alone.
    var columnCount: Int {
        if value < 0x300 {
            // The first mark is U+0300.
            return value < 0x20 || 0x7F..<0xA0 ~= value || value == 0xAD ? 0 : 1
        }
        if WidthTable.wide.contains(rangeWith: value) { return 2 }
        return WidthTable.zero.contains(rangeWith: value) ? 0 : 1
    }
}

extension [UInt32] {
    /// Whether one of the ranges in it, each a first and a last value, contains a value.
    fileprivate func contains(rangeWith value: UInt32) -> Bool {
        var low = 0
        var high = count / 2
        while low < high {
            let middle = (low + high) / 2
            if self[2 * middle + 1] < value { low = middle + 1 } else { high = middle }
        }
        return low < count / 2 && self[2 * low] <= value
    }
}
