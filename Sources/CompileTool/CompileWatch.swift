import ArgumentParser
import RelayCompiler

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Generates, and again whenever a source, a schema, the settings or a generated file has changed.
///
/// Files are looked at some times a second, which works on every disk.
struct CompileWatch {
    private let command: CompileCommand
    private let run: CompileRun
    /// What was compiled last.
    private var inputs: CompileInputs?
    /// What came of it, or is in its way, as the files were afterwards.
    private var outputs: [String: FileStatus.Version?] = [:]
    /// Why files could not be read the last time.
    private var trouble: String?
    /// The trouble that was said, until it is over: each is said once.
    private var saidTrouble: String?
    /// Why files could not be written the last time.
    private var saidFailure: String?

    /// - Throws: if the command lacks something that only another call can have. Files may come later.
    init(_ command: CompileCommand) throws {
        self.command = command
        run = CompileRun(command)
        do { _ = try CompileSettings(command) } catch let usage as ValidationError {
            throw usage
        } catch {}
    }

    mutating func watch() -> Never {
        while true {
            look()
            usleep(300_000)
        }
    }

    private mutating func look() {
        do {
            let inputs = try settledInputs()
            let isBack = saidTrouble != nil
            (trouble, saidTrouble) = (nil, nil)
            if isBack { run.report.note("All files can be read again.") }
            if inputs != self.inputs || isBack {
                generate(inputs, isQuiet: false)
            } else if outputs != FileStatus.versions(of: outputs.keys) {
                generate(inputs, isQuiet: true)
            }
        } catch {
            let message = "\(error)"
            // Only if it is there for a while: a program that saves a file may replace it by another.
            if message == trouble, message != saidTrouble {
                run.report.say(error)
                saidTrouble = message
            }
            trouble = message
        }
    }

    /// What there is to compile, once it no longer changes: a file may be seen while it is written.
    private func settledInputs() throws -> CompileInputs {
        var inputs = try CompileInputs(command)
        // Files that never come to rest are compiled as they are.
        for _ in 0..<20 where inputs != self.inputs {
            usleep(20_000)
            let next = try CompileInputs(command)
            if next == inputs { break }
            inputs = next
        }
        return inputs
    }

    private mutating func generate(_ inputs: CompileInputs, isQuiet: Bool) {
        self.inputs = inputs
        do {
            outputs = try run.generate(inputs, isQuiet: isQuiet).outputs
            saidFailure = nil
        } catch let failure as Compilation.Failure {
            // A file that is in the way may be moved.
            var paths = outputs.keys + failure.diagnostics.compactMap(\.place?.file)
            if let path = command.persist { paths.append(path) }
            outputs = FileStatus.versions(of: paths)
            saidFailure = nil
            run.report.say(failure)
        } catch {
            // Nothing tells when there is room on a disk again, so it is tried again and again.
            self.inputs = nil
            if saidFailure != "\(error)" { run.report.say(error) }
            saidFailure = "\(error)"
            usleep(1_000_000)
        }
    }
}
