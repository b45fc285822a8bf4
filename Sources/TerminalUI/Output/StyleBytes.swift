extension ControlBytes {
    /// SGR from one style to another, whichever way is shorter: from what is set, or from nothing.
    /// - Parameter pen: what is set; nil if that is not known.
    mutating func appendStyle(from pen: Style?, to style: Style) {
        if pen == style { return }
        if style == .plain {
            append("\u{1B}[m")
            return
        }
        var anew = Parameters()
        anew.append(0)
        anew.appendChanges(from: .plain, to: style)
        var best = anew
        if let pen {
            var changes = Parameters()
            changes.appendChanges(from: pen, to: style)
            if changes.bytes.count < anew.bytes.count { best = changes }
        }
        append("\u{1B}[")
        append(best.bytes)
        append(0x6D)
    }
}

private struct Parameters {
    private(set) var bytes = ControlBytes()

    mutating func append(_ number: Int) {
        if !bytes.isEmpty { bytes.append(0x3B) }
        bytes.append(number: number)
    }

    private static let switches: [(attribute: Style.Attributes, on: Int, off: Int)] = [
        (.bold, 1, 22), (.dim, 2, 22), (.italic, 3, 23), (.underline, 4, 24), (.inverse, 7, 27),
        (.strikethrough, 9, 29),
    ]

    mutating func appendChanges(from pen: Style, to style: Style) {
        var set = pen.attributes
        for (attribute, _, off) in Self.switches
        where set.contains(attribute) && !style.attributes.contains(attribute) {
            append(off)
            // Bold and dim have one switch.
            set.subtract(off == 22 ? [.bold, .dim] : attribute)
        }
        for (attribute, on, _) in Self.switches
        where style.attributes.contains(attribute) && !set.contains(attribute) {
            append(on)
        }
        if pen.foreground != style.foreground { append(style.foreground, 30) }
        if pen.background != style.background { append(style.background, 40) }
    }

    /// - Parameter base: 30 for what is in front, 40 for what is behind.
    private mutating func append(_ color: Color, _ base: Int) {
        switch color.kind {
        case .standard: append(base + 9)
        case .palette(let number) where number < 8: append(base + Int(number))
        case .palette(let number) where number < 16: append(base + 60 + Int(number) - 8)
        case .palette(let number):
            for part in [base + 8, 5, Int(number)] { append(part) }
        case .rgb(let red, let green, let blue):
            for part in [base + 8, 2, Int(red), Int(green), Int(blue)] { append(part) }
        }
    }
}
