@testable import LedgerEngine

/// Shrinks a failing simulation while it still fails, and reports it.
struct Shrinking {
    /// The maximum number of simulations that shrinking runs.
    private static let triesMax = 120
    /// The number of last lines of a trace that are reported.
    private static let linesMax = 60

    private let bug: PlantedBug?
    private(set) var report: SimulationReport
    private var tries = 0

    /// Starts with a failing report.
    init(_ report: SimulationReport, bug: PlantedBug? = nil) {
        self.report = report
        self.bug = bug
    }

    /// Returns the failure, the command that reproduces it, and the end of the smallest trace.
    static func story(of report: SimulationReport, bug: PlantedBug? = nil) -> String {
        var shrinking = Shrinking(report, bug: bug)
        shrinking.shrink()
        let small = shrinking.report
        return """
            Seed \(report.parameters.seed) fails: \(report.contradictions.first ?? "")
            Again: tools/simulate --seed \(report.parameters.seed)
            Its smallest form: \(small.parameters)
            \(small.contradictions.prefix(5).joined(separator: "\n"))
            The end of its trace:
            \(relevantLines(of: small).suffix(linesMax).joined(separator: "\n"))
            """
    }

    /// The lines up to the wrong answer, without the projectors' when these are not involved.
    private static func relevantLines(of report: SimulationReport) -> [String] {
        let first = report.contradictions.first ?? ""
        let isAboutReadModels = ProjectionName.allCases.contains { first.contains("\($0)_") }
        let isAboutSealing = first.contains("signed")
        let isAboutDelivery = first.contains("delivered")
        let lines = report.lines.filter {
            (isAboutReadModels || !$0.contains("projector: "))
                && (isAboutSealing || !$0.contains("sealer: "))
                && (isAboutDelivery
                    || !$0.contains("dispatcher: ") && !$0.contains("receiver: "))
        }
        let words = first.split { $0 == " " || $0 == ":" }
        guard words.first == "delivery", words.count > 1,
            let end = lines.lastIndex(where: { $0.contains("answered \(words[1]):") })
        else { return lines }
        return Array(lines[...end])
    }

    mutating func shrink() {
        var isSmaller = true
        while isSmaller, tries < Self.triesMax {
            isSmaller = false
            for smaller in Self.smaller(than: report.parameters) where tries < Self.triesMax {
                if take(smaller) {
                    isSmaller = true
                    break
                }
            }
        }
        _ = take(report.parameters)
    }

    private mutating func take(_ parameters: Parameters) -> Bool {
        tries += 1
        let report = Simulation.run(parameters, bug: bug, keepsTrace: true)
        guard !report.contradictions.isEmpty else { return false }
        self.report = report
        return true
    }

    private static func smaller(than parameters: Parameters) -> [Parameters] {
        var all: [Parameters] = []
        func add(_ change: (inout Parameters) -> Void) {
            var smaller = parameters
            change(&smaller)
            all.append(smaller)
        }
        for fault in parameters.faults.sorted(by: { $0.rawValue < $1.rawValue }) {
            add { $0.faults.remove(fault) }
        }
        if parameters.deliversWebhooks { add { $0.deliversWebhooks = false } }
        if parameters.operations > 1 {
            add { $0.operations /= 2 }
            add { $0.operations -= 1 }
        }
        if parameters.clients > 1 {
            add { $0.clients /= 2 }
            add { $0.clients -= 1 }
        }
        if parameters.processes > 1 { add { $0.processes -= 1 } }
        if parameters.tenants > 1 { add { $0.tenants -= 1 } }
        return all
    }
}
