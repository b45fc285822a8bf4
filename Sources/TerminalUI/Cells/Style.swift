/// A colour of text or of what is behind it.
public struct Color: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The terminal's own.
        case standard
        /// One of the terminal's 16 (below 16) or of the 256 that all terminals share.
        case palette(UInt8)
        case rgb(UInt8, UInt8, UInt8)
    }

    /// The kind in the first byte, so that cells are compared by their bytes.
    private let code: UInt32

    package init(_ kind: Kind) {
        switch kind {
        case .standard: code = 0
        case .palette(let number): code = 1 << 24 | UInt32(number)
        case .rgb(let red, let green, let blue):
            code = 2 << 24 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
        }
    }

    package var kind: Kind {
        switch code >> 24 {
        case 0: .standard
        case 1: .palette(UInt8(truncatingIfNeeded: code))
        default:
            .rgb(
                UInt8(truncatingIfNeeded: code >> 16), UInt8(truncatingIfNeeded: code >> 8),
                UInt8(truncatingIfNeeded: code))
        }
    }

    /// Whether both are the same colour, said in the same way.
    public static func == (one: Color, other: Color) -> Bool { one.code == other.code }

    /// A colour by its parts. Terminals with fewer colours show the nearest one that they have.
    /// - Parameters:
    ///   - red: 0 to 255.
    ///   - green: 0 to 255.
    ///   - blue: 0 to 255.
    public init(red: UInt8, green: UInt8, blue: UInt8) { self.init(.rgb(red, green, blue)) }

    /// The terminal's own colour for text.
    public static let primary = Color(.standard)
    /// The terminal's black.
    public static let black = Color(.palette(0))
    /// The terminal's red.
    public static let red = Color(.palette(1))
    /// The terminal's green.
    public static let green = Color(.palette(2))
    /// The terminal's yellow.
    public static let yellow = Color(.palette(3))
    /// The terminal's blue.
    public static let blue = Color(.palette(4))
    /// The terminal's purple.
    public static let purple = Color(.palette(5))
    /// The terminal's cyan.
    public static let cyan = Color(.palette(6))
    /// The terminal's white.
    public static let white = Color(.palette(7))
    /// Less prominent than text.
    public static let gray = Color(.palette(8))
    /// The same: SwiftUI's name for what is less prominent.
    public static let secondary = gray
}

/// How a cell looks.
package struct Style: Hashable, Sendable {
    package struct Attributes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let bold = Attributes(rawValue: 1 << 0)
        package static let dim = Attributes(rawValue: 1 << 1)
        package static let italic = Attributes(rawValue: 1 << 2)
        package static let underline = Attributes(rawValue: 1 << 3)
        package static let inverse = Attributes(rawValue: 1 << 4)
        package static let strikethrough = Attributes(rawValue: 1 << 5)
    }

    package var foreground: Color
    package var background: Color
    package var attributes: Attributes

    package init(
        foreground: Color = .primary, background: Color = .primary, attributes: Attributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    package static let plain = Style()

    package static func == (one: Style, other: Style) -> Bool {
        one.foreground == other.foreground && one.background == other.background
            && one.attributes.rawValue == other.attributes.rawValue
    }
}
