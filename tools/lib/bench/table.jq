# Prints a result as a table.

def number:
    if . == null then "" elif . >= 100 then round | tostring
    elif . >= 10 then (. * 10 | round / 10 | tostring) else (. * 1000 | round / 1000 | tostring) end;
def spread: if . == null then "" else "\(.lowest | number) to \(.highest | number)" end;
def cost($name): .figures[$name] // [] | sort | if length == 0 then null else .[(length - 1) / 2 | floor] end;

"| Work | median | spread | baseline of the same run | median | ratio | target | met |",
"|---|---|---|---|---|---|---|---|",
(.rows[]
    | (.yardstick // {}) as $yardstick
    | if .ours == null then
        "| \(.work) | | | \($yardstick.name // "") | | | \(.asked // "") | \(.failure) |"
      else
        "| \(.work) | \(.ours.median | number) \(.unit) | \(.ours | spread) | \($yardstick.name // "") | \(
            if $yardstick.median then "\($yardstick.median | number) \(.unit)" else "" end) | \(
            .ratio | number)\(if .ratios and .ratios[0] != .ratios[1] then " (\(.ratios[0] | number) to \(.ratios[1] | number))" else "" end) | \(.asked // "") | \(
            if .failure then .failure elif .reached == null then "" elif .reached then "yes" else "no" end) |"
      end),
"",
((["a link", "link"], ["a sign-in", "sign_in"], ["an unlink", "unlink"], ["a refresh", "refresh"],
    ["a sign-in of a new person", "sign_up"], ["an anonymous sign-up", "anonymous"],
    ["a link of another account", "ordinary_link"], ["an upgrade", "upgrade"]) as [$request, $name]
    | if cost("\($name)_server_cpu_us") then
        "Processor time of \($request): server \(cost("\($name)_server_cpu_us")) us, Postgres \(
            cost("\($name)_postgres_cpu_us")) us, load \(cost("\($name)_loader_cpu_us") | number) us; projection included."
      else empty end),
((["plain", "on Postgres alone"], ["citus", "on Citus"], ["worker", "on Citus by a worker"]) as [$engine, $where]
    | ("one", "ten", "hundred", "hundred_64") as $name
    | [range(3) as $node | cost("\($engine)_\($name)_node_\($node)_cpu_us") // empty]
    | if length > 0 then
        "Processor time of a link \($where) (\($name)): \(if length == 3 then
            "workers \(.[0]) and \(.[1]) us, coordinator \(.[2]) us" else "Postgres \(.[0]) us" end)."
      else empty end),
(.figures.stolen_percent // [] | if length == 0 then empty else
    "The hypervisor gave \(min) to \(max) % of the processors' time to others, by round." end),
"\(.requests_per_run) requests a run; \(.cores) cores of \(.processor), which also ran the load; \(.postgres); commit \(.commit)."
