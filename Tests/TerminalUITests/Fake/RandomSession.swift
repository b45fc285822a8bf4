import BoundedTesting

@testable import TerminalUI

/// A screen that changes at random.
struct RandomSession {
    private(set) var buffer: CellBuffer
    private(set) var cursor: Position?
    var random: SeededGenerator
    /// Whether there are graphemes that terminals disagree on.
    let hasDisputed: Bool

    init(seed: UInt64, hasDisputed: Bool = true) {
        random = SeededGenerator(seed: seed)
        self.hasDisputed = hasDisputed
        buffer = CellBuffer(.zero, GraphemeTable())
        buffer = CellBuffer(randomSize(), buffer.graphemes)
    }

    private mutating func randomSize() -> Size {
        Size(width: 1 + random.below(40), height: 1 + random.below(12))
    }

    private static let undisputed: [Character] = [
        "a", "b", "Z", "0", "-", "é", "e\u{301}", "ö\u{323}", "日", "本", "한", "Ａ", "😀", "🚀", "│",
        "█", " ",
        "\u{E0B0}",
    ]
    private static let disputed: [Character] = [
        "❤\u{FE0F}", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "1\u{FE0F}\u{20E3}", "कि", "☃\u{FE0E}", "🇩", "ᄒ", "क्ष",
    ].map { (text: String) in Character(text) }

    private mutating func randomText() -> String {
        let isPlain = random.below(2) == 0
        return String(
            (0..<1 + random.below(12)).map { _ -> Character in
                if isPlain { return random.pick(["x", "y", " ", "z"]) }
                if hasDisputed, random.below(4) == 0 { return random.pick(Self.disputed) }
                return random.pick(Self.undisputed)
            })
    }

    private mutating func randomColor() -> Color {
        switch random.below(4) {
        case 0: Color(.palette(UInt8(random.below(256))))
        case 1:
            Color(
                red: UInt8(random.below(256)), green: UInt8(random.below(256)),
                blue: UInt8(random.below(256)))
        default: .primary
        }
    }

    private mutating func randomStyle() -> Style {
        if random.below(3) == 0 { return .plain }
        return Style(
            foreground: randomColor(), background: randomColor(),
            attributes: .init(rawValue: UInt32(random.below(64) & random.below(64))))
    }

    private mutating func randomRect() -> Rect {
        Rect(
            origin: Position(column: random.below(42) - 2, row: random.below(14) - 2),
            size: Size(width: random.below(20), height: random.below(4)))
    }

    /// Draws the next frame.
    /// - Returns: whether the screen has another size now.
    mutating func step() -> Bool {
        cursor =
            random.below(2) == 0
            ? nil : Position(column: random.below(40), row: random.below(12))
        if random.below(12) == 0 { return resize() }
        if random.below(40) == 0 { return startAnew() }
        for _ in 0..<random.below(4) { change() }
        return false
    }

    private mutating func resize() -> Bool {
        buffer = CellBuffer(randomSize(), buffer.graphemes)
        for _ in 0..<10 { change() }
        return true
    }

    /// The graphemes' numbers mean others then.
    private mutating func startAnew() -> Bool {
        buffer.graphemes.clear()
        buffer.clear()
        for _ in 0..<10 { change() }
        return false
    }

    private mutating func change() {
        switch random.below(8) {
        case 0: buffer.fill(randomRect(), style: randomStyle())
        case 1: buffer.fill(randomRect(), with: Glyph(code: 0x2588), style: randomStyle())
        case 2:
            let style = randomStyle()
            buffer.restyle(randomRect()) { $0 = style }
        case 3 where random.below(4) == 0: buffer.clear()
        default:
            let place = Position(
                column: random.below(buffer.size.width + 4) - 2,
                row: random.below(buffer.size.height))
            let clip = random.below(3) == 0 ? randomRect() : buffer.bounds
            buffer.write(randomText(), at: place, style: randomStyle(), clip: clip)
        }
    }
}
