/// The folders of a module, and the types by which one depends on another.
///
/// A folder depends on another one when its code names a type that is declared there, at the top level.
/// Extensions of a type count where the type is declared: who calls their members is not known. The
/// files beside the folders are a folder, too.
struct FolderGraph {
    /// The source of one file.
    struct File {
        let folder: String
        let source: [UInt8]
    }

    /// One folder's use of another one's types.
    struct Dependency: Hashable, CustomStringConvertible {
        let from: String
        let to: String
        let types: Set<String>

        var description: String {
            "\(from) -> \(to) by \(types.sorted().joined(separator: ", "))"
        }
    }

    let dependencies: [Dependency]

    /// Reads a module's files.
    init(_ files: [File]) {
        var homes: [String: String] = [:]
        var named: [String: Set<String>] = [:]
        for file in files {
            var scanner = SwiftLiterals(file.folder, file.source)
            _ = scanner.all()
            for type in scanner.declaredTypes { homes[type] = file.folder }
            named[file.folder, default: []].formUnion(
                scanner.typeNames.subtracting(scanner.privateTypes))
        }
        dependencies = named.flatMap { folder, types in
            Dictionary(grouping: types) { homes[$0] ?? folder }
                .filter { $0.key != folder }
                .map { Dependency(from: folder, to: $0.key, types: Set($0.value)) }
        }
    }

    /// The dependencies that are part of a cycle of folders, without the excepted ones.
    func cycles(without excepted: [Dependency] = []) -> [Dependency] {
        let kept = dependencies.filter { !excepted.contains($0) }
        let next = Dictionary(grouping: kept, by: \.from).mapValues { $0.map(\.to) }
        return kept.filter { dependency in
            var reached: Set<String> = []
            var open = [dependency.to]
            while let folder = open.popLast() {
                if reached.insert(folder).inserted { open += next[folder] ?? [] }
            }
            return reached.contains(dependency.from)
        }
    }
}
