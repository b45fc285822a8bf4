/// What can be known of a terminal before asking it.
package struct TerminalCapabilities: Sendable, Equatable {
    /// Whether it can be drawn on at all; otherwise only lines can be written.
    package var hasScreen: Bool
    package var colors: ColorDepth

    package init(hasScreen: Bool, colors: ColorDepth) {
        self.hasScreen = hasScreen
        self.colors = colors
    }

    /// - Parameters:
    ///   - environment: TERM; COLORTERM; NO_COLOR (https://no-color.org), which takes colours away and nothing else.
    ///   - isTerminal: whether input and output are one.
    package init(environment: [String: String], isTerminal: Bool) {
        let term = environment["TERM"] ?? ""
        hasScreen = isTerminal && !["", "dumb", "unknown"].contains(term)
        colors = hasScreen ? Self.colors(term, environment) : .none
    }

    private static func colors(_ term: String, _ environment: [String: String]) -> ColorDepth {
        if environment["NO_COLOR"]?.isEmpty == false { return .none }
        if ["truecolor", "24bit"].contains(environment["COLORTERM"]) { return .trueColor }
        let modern = ["kitty", "ghostty", "alacritty", "foot", "wezterm", "-direct"]
        if modern.contains(where: term.contains) { return .trueColor }
        if term.contains("256color") { return .palette256 }
        let isMonochrome =
            term.hasSuffix("-m") || ["vt1", "vt2", "vt3"].contains(where: term.hasPrefix)
        return isMonochrome ? .none : .ansi16
    }
}
