# Reads events of Swift Testing, and prints the starts and ends of test cases and of tests without arguments,
# whose cases have no events: time, kind, suite, test.

foreach (inputs | .payload) as $it ({};
    if $it.isParameterized != null then .isPlain[$it.id] = ($it.isParameterized | not) else . end
    | .isShown = ($it.kind == "testCaseStarted" or $it.kind == "testCaseEnded"
        or (.isPlain[$it.testID // ""] and ($it.kind == "testStarted" or $it.kind == "testEnded")));
    select(.isShown)
    | [$it.instant.absolute, $it.kind, ($it.testID | split("/")[0]), $it.testID] | @tsv)
