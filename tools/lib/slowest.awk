# Prints the 20 suites whose test cases ran longest, from the lines of slowest.jq: seconds, cases, suite.
#
# For a test without arguments, Swift Testing reports when it is due, which is at the start for all of them,
# and not when it gets one of the `width` slots. Tests get slots roughly in the order in which they are due;
# when a test ends that should not be running yet, it had the slot of the one that seems to have begun last.

function begin_next(   test) {
    test = queue[first++]
    if (test in finished) return
    begun[test] = freed
    running++
}

function last_begun(   test, result) {
    for (test in begun) if (result == "" || begun[test] > begun[result]) result = test
    return result
}

function end(suite, start) {
    seconds[suite] += $1 - start
    cases[suite]++
    running--
    freed = $1
}

BEGIN { FS = "\t" }
NR == 1 { freed = $1 }
$2 != "testCaseStarted" { while (running < width && first < last) begin_next() }
$2 == "testStarted" { queue[last++] = $4 }
$2 == "testCaseStarted" { running++; starts[$4, ++started[$4]] = $1 }
$2 == "testCaseEnded" { end($3, starts[$4, ++ended[$4]]) }
$2 == "testEnded" {
    finished[$4]
    test = $4 in begun ? $4 : last_begun()
    end($3, test == "" ? freed : begun[test])
    delete begun[test]
    if (test != $4) queue[--first] = test
}
END {
    for (suite in seconds) printf "%.1f|%d|%s\n", seconds[suite], cases[suite], suite | "sort -rn | head -n 20"
}
