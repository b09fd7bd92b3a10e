/// A script that completes subcommands and options of a program in a shell.
struct CompletionScript {
    enum Shell: String, CaseIterable {
        case bash
        case zsh
    }

    let program: String
    let syntaxes: [Syntax]

    /// Returns the script for a shell.
    func text(for shell: Shell) -> String {
        let function = "_" + program.replacing("-", with: "_")
        return switch shell {
        case .bash:
            """
            # Completion of \(program) for bash: source it, or save it in /etc/bash_completion.d.
            \(function)() {
                local given=("${COMP_WORDS[@]:1:COMP_CWORD-1}") next='' length
            \(choice(count: "${#given[@]}", prefix: "${given[*]:0:length}"))
                mapfile -t COMPREPLY < <(compgen -W "$next" -- "${COMP_WORDS[COMP_CWORD]}")
            }
            complete -o default -F \(function) \(program)

            """
        case .zsh:
            """
            #compdef \(program)
            # Completion of \(program) for zsh: save it as \(function) in a directory of fpath.
            \(function)() {
                local given=("${words[@]:1:$((CURRENT - 2))}") next='' length
            \(choice(count: "${#given[@]}", prefix: "${given[*]:0:$length}"))
                compadd -- ${=next}
            }
            if [[ ${funcstack[1]} == \(function) ]]; then
                \(function) "$@"
            else
                compdef \(function) \(program)
            fi

            """
        }
    }

    /// Returns the lines that set `next` by the longest known beginning of the given words.
    private func choice(count: String, prefix: String) -> String {
        let cases = followers.sorted { $0.key < $1.key }.map { words, next in
            "            \"\(words)\") next='\(next.joined(separator: " "))' ;;"
        }
        return """
                for ((length = \(count); length >= 0; length--)); do
                    case "\(prefix)" in
            \(cases.joined(separator: "\n"))
                    esac
                    [[ -z $next ]] || break
                done
            """
    }

    /// The words and options that may follow the words of subcommands and of their groups.
    private var followers: [String: [String]] {
        var followers: [String: [String]] = ["": ["help", "completion", "--help", "--version"]]
        followers["completion"] = Shell.allCases.map(\.rawValue)
        for syntax in syntaxes {
            for (index, word) in syntax.words.enumerated() {
                let before = syntax.words[..<index].joined(separator: " ")
                if followers[before]?.contains(word) != true {
                    followers[before, default: []].append(word)
                }
            }
            followers[syntax.name, default: []] +=
                syntax.options.map { "--\($0.name)" } + ["--help"]
        }
        return followers
    }
}
