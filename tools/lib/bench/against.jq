# Prints the comparison of two checkouts, from the slurped results of their runs, as a table.

def median: sort | .[(length - 1) / 2 | floor];
def mean: add / length;
def error: if length < 2 then null else
    mean as $mean | (map((. - $mean) * (. - $mean)) | add) / (length - 1) / length | sqrt end;
def number:
    if . == null then "" elif . >= 100 then round | tostring
    elif . >= 10 then (. * 10 | round / 10 | tostring) else (. * 1000 | round / 1000 | tostring) end;

# A row for each kind of request: the processor time of server and Postgres, the median of the rounds.
def processor_time: .figures as $figures
    | $figures | keys[] | select(endswith("_server_cpu_us")) | rtrimstr("_server_cpu_us") as $name
    | [$figures["\($name)_server_cpu_us"], $figures["\($name)_postgres_cpu_us"]] | transpose | map(add)
    | { key: ["~", "processor time of \($name)"], unit: "us",
        ours: { median: median, spread_percent: ((max - min) * 1000 / median | round / 10) } };

. as $runs
| [$runs[] | { side, pair } + ((.rows[] | { key: [.id, .work], unit, ours }), processor_time)]
| unique_by([.side, .pair, .key]) | map(select(.ours != null)) as $figures
| "Other: \([$runs[] | select(.side == "other").commit] | unique | join(", ")); this: \(
    [$runs[] | select(.side == "this").commit] | unique | join(", ")); \(
    $runs[0].requests_per_run) requests a run; \($runs[0].cores) cores of \($runs[0].processor); \(
    $runs[0].postgres).",
"",
"| Work | other | this | this / other | standard error | pairs | largest spread |",
"|---|---|---|---|---|---|---|",
($figures | group_by(.key)[]
    | (map(select(.side == "other"))) as $other | (map(select(.side == "this"))) as $this
    | [$other[] | . as $one | $this[] | select(.pair == $one.pair) | .ours.median / $one.ours.median] as $ratios
    | select($ratios | length > 0)
    | "| \(.[0].key[1]) | \($other | map(.ours.median) | median | number) \(.[0].unit) | \(
        $this | map(.ours.median) | median | number) \(.[0].unit) | \($ratios | mean | number) | \(
        $ratios | error | number) | \($ratios | length) | \(map(.ours.spread_percent) | max | number) % |")
