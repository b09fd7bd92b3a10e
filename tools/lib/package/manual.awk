# Turns the texts of --help into a manual page. Input: lines `version` and `date`, then the help of the program,
# then `\fsubcommand NAME` and the help of each.

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/"/, "\\(dq", text)
    gsub(/^['.]/, "\\\\\\&&", text)
    return text
}

# An item of two columns, separated by two blanks or more.
function item(text,    place) {
    sub(/^  /, "", text)
    place = match(text, /  +/)
    printf ".TP\n.B %s\n%s\n", roff(substr(text, 1, place - 1)), roff(substr(text, place + RLENGTH))
}

$1 == "version" && !version { version = $2; next }
$1 == "date" && !date { date = $2; next }
$0 == "program" && !begun {
    begun = 1
    printf ".TH ACCOUNT\\-LEDGER 1 %s \"account\\-ledger %s\" \"User Commands\"\n.ad l\n", roff(date), version
    next
}
begun == 1 {
    # The summary of the program.
    begun = 2
    summary = $0
    sub(/\.$/, "", summary)
    printf ".SH NAME\naccount\\-ledger \\- %s\n", roff(tolower(substr(summary, 1, 1)) substr(summary, 2))
    print ".SH SYNOPSIS\n.B account\\-ledger\n.I SUBCOMMAND\n.RI [ OPTIONS ]"
    print ".SH DESCRIPTION\nThe server and the tools of AccountLedger. Every subcommand has \\-\\-help."
    print ".SH SUBCOMMANDS"
    next
}
/^\fsubcommand / {
    sub(/^\fsubcommand /, "")
    printf ".SS \"%s\"\n", roff($0)
    part = "summary"
    next
}
begun == 2 && !part { next }
part == "summary" { print roff(toupper(substr($0, 1, 1)) substr($0, 2)) "."; part = "text"; next }
/^Usage: / { sub(/^Usage: /, ""); printf ".PP\n.B %s\n", roff($0); gap = 0; next }
/^Arguments:$/ || /^Options:$/ { part = "items"; next }
/^Environment:$/ { part = "settings"; names = ""; next }
/^$/ {
    if (part == "settings" && names) printf ".PP\nSettings: %s.\n", roff(names)
    gap = 1
    next
}
part == "items" && /^  [^ ]/ { if (index($0, "  --help  ") != 1) item($0); next }
part == "items" { sub(/^ +/, ""); print roff($0); next }
part == "settings" && /^  [A-Z]/ {
    setting = $1
    names = names (names ? ", " : "") setting
    if (!(setting in meanings)) { order[++count] = setting; titles[setting] = substr($0, 3) }
    next
}
part == "settings" {
    sub(/^ +/, "")
    if (!(setting in meanings)) meanings[setting] = $0
    next
}
{
    # A paragraph, or a line about one of several words.
    if (gap) print ".PP"
    else if ($0 ~ /^[a-z]+: /) print ".br"
    gap = 0
    print roff($0)
}
END {
    print ".SH ENVIRONMENT"
    for (i = 1; i <= count; i++) printf ".TP\n.B %s\n%s.\n", roff(titles[order[i]]), roff(meanings[order[i]])
    print ".SH EXIT STATUS\n0 for success, 1 for a fault or a finding, 64 for a usage error."
    print ".SH FILES"
    print ".TP\n.I /etc/account\\-ledger/environment\nThe settings of the service."
    print ".TP\n.I /var/lib/account\\-ledger/keys\nThe keys of the packaged service. Without them nothing decrypts personal data."
    print ".SH SEE ALSO\n.BR account\\-ledgerctl (8),\n/usr/share/doc/account\\-ledger/docs/README.md"
}
