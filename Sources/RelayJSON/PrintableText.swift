extension String {
    /// The text on one line of a terminal, with what a terminal would act on, or reorder the text by, written as in JSON:
    /// clients choose ids and names.
    package var printable: String {
        if unicodeScalars.allSatisfy(\.isPrintable) { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        if value < 0x7F { return value >= 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return false
        // What joins the parts of a character is harmless, and emoji and some scripts need it.
        case .format: return value == 0x200C || value == 0x200D
        default: return true
        }
    }
}
