/// How many colours a terminal has.
package enum ColorDepth: Int, Comparable, Sendable {
    /// None: bold, inverse and the like still work.
    case none
    /// The 16 of the terminal's own theme.
    case ansi16
    case palette256
    case trueColor

    package static func < (one: ColorDepth, other: ColorDepth) -> Bool {
        one.rawValue < other.rawValue
    }
}

extension Color {
    /// The nearest colour that a terminal has.
    package func reduced(to depth: ColorDepth) -> Color {
        switch (kind, depth) {
        case (.standard, _), (_, .trueColor): return self
        case (_, .none): return Color(.standard)
        case (.palette(let number), _):
            if depth == .palette256 || number < 16 { return self }
            return Color(.palette(RGB(number).nearestOf16))
        case (.rgb(let red, let green, let blue), _):
            let color = RGB(Int(red), Int(green), Int(blue))
            return Color(.palette(depth == .ansi16 ? color.nearestOf16 : color.nearestOf256))
        }
    }
}

private struct RGB {
    let red: Int
    let green: Int
    let blue: Int

    init(_ red: Int, _ green: Int, _ blue: Int) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// xterm's colours: 16 that themes change, a cube of 6 x 6 x 6, 24 shades of grey.
    init(_ number: UInt8) {
        let number = Int(number)
        switch number {
        case ..<16: self = Self.themed(number)
        case ..<232:
            let place = number - 16
            self.init(
                Self.level(place / 36), Self.level(place / 6 % 6), Self.level(place % 6))
        default:
            let shade = 8 + 10 * (number - 232)
            self.init(shade, shade, shade)
        }
    }

    private static func themed(_ number: Int) -> RGB {
        switch number {
        case 7: return RGB(229, 229, 229)
        case 8: return RGB(127, 127, 127)
        case 4: return RGB(0, 0, 238)
        case 12: return RGB(92, 92, 255)
        default:
            let level = number < 8 ? 205 : 255
            return RGB(
                number & 1 != 0 ? level : 0, number & 2 != 0 ? level : 0,
                number & 4 != 0 ? level : 0)
        }
    }

    private static func level(_ number: Int) -> Int { number == 0 ? 0 : 55 + 40 * number }

    private static func nearestLevel(_ part: Int) -> Int {
        part < 48 ? 0 : part < 115 ? 1 : (part - 35) / 40
    }

    /// Squared, with the weights of the eye.
    private func distance(to other: RGB) -> Int {
        let red = red - other.red
        let green = green - other.green
        let blue = blue - other.blue
        return 3 * red * red + 6 * green * green + blue * blue
    }

    var nearestOf16: UInt8 {
        UInt8((0..<16).min { distance(to: Self.themed($0)) < distance(to: Self.themed($1)) } ?? 7)
    }

    /// One of the 240 that no theme changes.
    var nearestOf256: UInt8 {
        let cube =
            16 + 36 * Self.nearestLevel(red) + 6 * Self.nearestLevel(green)
            + Self.nearestLevel(blue)
        let grey = 232 + min(max(((red + green + blue) / 3 - 3) / 10, 0), 23)
        let colors = [UInt8(cube), UInt8(grey)]
        return distance(to: RGB(colors[1])) < distance(to: RGB(colors[0])) ? colors[1] : colors[0]
    }
}
