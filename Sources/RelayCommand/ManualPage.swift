import RelayJSON

/// The manual page of a program, from what its `--help` says: the form that man(7) describes.
struct ManualPage {
    private(set) var text = ""

    /// - Parameters:
    ///   - command: as ArgumentParser describes it in JSON.
    ///   - version: the program's name and version.
    init(of command: JSONValue, version: String) {
        let name = command["commandName"]?.string ?? ""
        macro("TH", name.uppercased(), "1", "", version)
        macro("SH", "NAME")
        line("\(name) - \(command["abstract"]?.string ?? "")")
        macro("SH", "SYNOPSIS")
        line("\(name) COMMAND [OPTION...] [ARGUMENT...]")
        macro("SH", "DESCRIPTION")
        paragraph(command["discussion"]?.string)
        macro("SH", "COMMANDS")
        write(command, [])
    }

    private mutating func write(_ command: JSONValue, _ path: [String]) {
        let path = path + [command["commandName"]?.string ?? ""]
        let commands = (command["subcommands"]?.array ?? []).filter(Self.isShown)
        guard commands.isEmpty else {
            for inner in commands { write(inner, path) }
            return
        }
        let arguments = (command["arguments"]?.array ?? []).filter(Self.isShown)
        macro("SS", Self.usage(path, arguments))
        paragraph(command["abstract"]?.string)
        paragraph(command["discussion"]?.string)
        for argument in arguments {
            macro("TP")
            line(Self.names(of: argument))
            line(argument["abstract"]?.string ?? "")
        }
    }

    private static func isShown(_ value: JSONValue) -> Bool {
        // Every command has these two, and says so itself.
        let name = value["preferredName"]?["name"]?.string
        return value["shouldDisplay"]?.bool != false && value["commandName"]?.string != "help"
            && name != "help" && name != "version"
    }

    private static func usage(_ path: [String], _ arguments: [JSONValue]) -> String {
        let positional = arguments.filter { $0["kind"]?.string == "positional" }
        let hasOptions = positional.count < arguments.count
        return (path + (hasOptions ? ["[OPTION...]"] : []) + positional.map(value)).joined(
            separator: " ")
    }

    /// `-h, --help`, `--data <dir>` or `<url>`
    private static func names(of argument: JSONValue) -> String {
        if argument["kind"]?.string == "positional" { return value(argument) }
        let names = (argument["names"]?.array ?? []).map { name in
            (name["kind"]?.string == "long" ? "--" : "-") + (name["name"]?.string ?? "")
        }
        let all = names.joined(separator: ", ")
        return argument["kind"]?.string == "option" ? "\(all) <\(valueName(argument))>" : all
    }

    private static func value(_ argument: JSONValue) -> String {
        let name =
            "<\(valueName(argument))>" + (argument["isRepeating"]?.bool == true ? "..." : "")
        return argument["isOptional"]?.bool == true ? "[\(name)]" : name
    }

    private static func valueName(_ argument: JSONValue) -> String {
        argument["valueName"]?.string ?? "value"
    }

    // MARK: Lines

    private mutating func paragraph(_ paragraph: String?) {
        guard let paragraph, !paragraph.isEmpty else { return }
        for part in paragraph.split(separator: "\n") {
            macro("PP")
            line(String(part))
        }
    }

    private mutating func macro(_ name: String, _ arguments: String...) {
        text += ".\(name)"
        for argument in arguments {
            text += " \"\(Self.escaped(argument).replacing("\"", with: "\\(dq"))\""
        }
        text += "\n"
    }

    /// A dot or an apostrophe at the start of a line would be a macro.
    private mutating func line(_ line: String) {
        let isMacro = line.hasPrefix(".") || line.hasPrefix("'")
        text += (isMacro ? "\\&" : "") + Self.escaped(line) + "\n"
    }

    /// A minus that can be copied from the page, and characters that mean something to the formatter.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
            .replacing("'", with: "\\(aq").replacing("`", with: "\\(ga")
            .replacing("^", with: "\\(ha").replacing("~", with: "\\(ti")
    }
}
