import ArgumentParser
import Console

/// Options that were given in the environment: `--allow-origin` as `RELAY_ALLOW_ORIGIN`.
struct Settings {
    func text(_ option: String) -> String? {
        let value = environmentValue(name(option))
        return value?.isEmpty == true ? nil : value
    }

    func list(_ option: String) -> [String] {
        (text(option) ?? "").split(separator: ",").map(String.init)
    }

    /// An option that keeps people out: a variable that is set but empty is a mistake; it does not count as unset.
    func given(_ option: String?, _ name: String) throws -> String? {
        if option?.isEmpty == true { throw ValidationError("--\(name) must not be empty.") }
        let variable = self.name(name)
        if option == nil, environmentValue(variable)?.isEmpty == true {
            throw ValidationError(
                "\(variable) is set and empty. Unset it to serve without --\(name).")
        }
        return option ?? text(name)
    }

    /// The parts of a list, also those that are empty; none where the variable is not set.
    func elements(_ option: String) -> [String] {
        environmentValue(name(option))?
            .split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    func number(_ option: String) throws -> Int? {
        guard let text = text(option) else { return nil }
        guard let number = Int(text) else {
            throw ValidationError("\(name(option)) must be a whole number, not \"\(text)\".")
        }
        return number
    }

    func flag(_ option: String) throws -> Bool { try flagIfGiven(option) ?? false }

    func flagIfGiven(_ option: String) throws -> Bool? {
        switch text(option)?.lowercased() {
        case nil: return nil
        case "0", "false", "no": return false
        case "1", "true", "yes": return true
        case let other?:
            throw ValidationError("\(name(option)) must be true or false, not \"\(other)\".")
        }
    }

    /// One of a closed set of words, given as an option or in the environment.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ given: String?, _ option: String, default fallback: Choice
    ) throws -> Choice {
        guard let text = given ?? text(option) else { return fallback }
        guard let choice = Choice(rawValue: text) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--\(option) must be one of \(choices), not \"\(text)\".")
        }
        return choice
    }

    private func name(_ option: String) -> String {
        "RELAY_" + option.uppercased().replacing("-", with: "_")
    }
}
