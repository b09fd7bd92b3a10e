# Makes the result from slurped lines "NAME VALUE" on standard input. Each row is a kind of work, its
# baseline of the same run, and its target.

def side($figures; $name):
    ($figures[$name] // []) | sort
    | if length == 0 then null else
        { median: .[(length - 1) / 2 | floor], lowest: .[0], highest: .[-1], runs: length,
          spread_percent: (if .[0] == .[-1] then 0
              else ((.[-1] - .[0]) * 1000 / .[(length - 1) / 2 | floor] | round / 10) end) }
      end;

def reached($ratio):
    if .at_least then $ratio >= .at_least
    elif .more_than then $ratio > .more_than
    elif .at_most then $ratio <= .at_most
    else null end;

def rows: [
    { id: "link", work: "POST /v1/auth/link, \($connections) connections", unit: "/s",
      figure: "link_per_second", yardstick: "plain SQL link", by: "bare_sql_per_second",
      at_least: 1.5 },
    { id: "link", work: "POST /v1/auth/link, p99", unit: "us", figure: "link_p99_us",
      yardstick: "plain SQL link, p99", by: "bare_sql_p99_us", at_most: 1 },
    { id: "link", work: "POST /v1/auth/link, \($connections) connections", unit: "/s",
      figure: "link_per_second", yardstick: "single-row INSERT", by: "insert_per_second",
      at_least: 0.5 },
    { id: "link-alone", work: "POST /v1/auth/link, 1 connection, latency", unit: "us",
      figure: "link_alone_p50_us", yardstick: "single-row INSERT, 1 client, latency",
      by: "insert_alone_p50_us", at_most: 4 },
    { id: "sign-in", work: "POST /v1/auth/sign-in of known identities", unit: "/s",
      figure: "sign_in_per_second", yardstick: "plain SQL link", by: "bare_sql_later_per_second",
      at_least: 1 },
    { id: "unlink", work: "DELETE /v1/auth/link", unit: "/s", figure: "unlink_per_second",
      yardstick: "plain SQL link", by: "bare_sql_later_per_second", at_least: 1 },
    { id: "refresh", work: "POST /v1/auth/refresh", unit: "/s", figure: "refresh_per_second",
      yardstick: "plain SQL link", by: "bare_sql_later_per_second", at_least: 2 },
    { id: "anonymous", work: "POST /v1/auth/sign-in/anonymous, new accounts", unit: "/s",
      figure: "anonymous_per_second", yardstick: "sign-ins of new people",
      by: "sign_up_per_second", at_least: 0.9 },
    { id: "anonymous", work: "POST /v1/auth/link of anonymous accounts", unit: "/s",
      figure: "upgrade_per_second", yardstick: "sign-ins of new people", by: "sign_up_per_second",
      at_least: 0.9 },
    { id: "anonymous", work: "POST /v1/auth/link of anonymous accounts", unit: "/s",
      figure: "upgrade_per_second", yardstick: "links of other accounts",
      by: "ordinary_link_per_second" },
    { id: "codes", work: "POST /v1/auth/sign-in/phone of known numbers", unit: "/s",
      figure: "code_per_second", yardstick: "refreshes", by: "refresh_per_second",
      at_least: 0.8 },
    { id: "passwords", work: "POST /v1/auth/sign-in/password", unit: "/s",
      figure: "password_per_second", yardstick: "Argon2id alone on all processors",
      by: "argon2_per_second", at_least: 0.85 },
    { id: "passwords", work: "POST /v1/auth/link beside passwords, p99", unit: "us",
      figure: "link_beside_p99_us", yardstick: "without them, p99", by: "link_quiet_p99_us",
      at_most: 2 },
    { id: "account", work: "GET /v1/account, \($connections) connections", unit: "/s",
      figure: "account_per_second", yardstick: "SELECT by key", by: "select_per_second",
      at_least: 0.6 },
    { id: "replay", work: "verify of \($replayed) events", unit: "s", figure: "verify_seconds",
      yardstick: "COPY events", by: "copy_seconds", at_most: 4 },
    { id: "replay", work: "verify, memory", unit: "MiB", figure: "verify_mib",
      yardstick: "64 MiB + 256 bytes an account", by: "verify_allowed_mib", at_most: 1 },
    { id: "rebuild", work: "rebuild user_providers of \($replayed) events", unit: "s",
      figure: "rebuild_seconds", yardstick: "COPY events", by: "copy_seconds", at_most: 6 },
    { id: "rebuild", work: "rebuild user_providers, memory", unit: "MiB", figure: "rebuild_mib" },
    { id: "export", work: "export --all of \($replayed) events", unit: "s",
      figure: "export_seconds", yardstick: "COPY events", by: "copy_seconds" },
    { id: "export", work: "export, memory", unit: "MiB", figure: "export_mib",
      yardstick: "64 MiB + 256 bytes an account", by: "verify_allowed_mib", at_most: 1 },
    { id: "export", work: "verify --offline of the bundle", unit: "s", figure: "offline_seconds",
      yardstick: "COPY events", by: "copy_seconds" },
    { id: "export", work: "verify --offline, memory", unit: "MiB", figure: "offline_mib",
      yardstick: "64 MiB + 256 bytes an account", by: "verify_allowed_mib", at_most: 1 },
    { id: "link", work: "projection lag at full load", unit: "s", figure: "lag_seconds", below: 1 },
    { id: "projection", work: "projection catching up", unit: "events/s",
      figure: "drain_per_second", yardstick: "events appended at full load",
      by: "append_per_second", more_than: 3 },
    { id: "sealing", work: "POST /v1/auth/link, sealed meanwhile", unit: "/s",
      figure: "link_sealed_per_second", yardstick: "not sealed", by: "link_unsealed_per_second",
      at_least: 0.9 },
    { id: "sealing", work: "from an event to its checkpoint under that load, p99", unit: "ms",
      figure: "sealing_p99_ms", below: 200 },
    { id: "tenants", work: "POST /v1/auth/link over \($tenants) tenants", unit: "/s",
      figure: "tenants_per_second", yardstick: "one tenant", by: "link_per_second",
      at_least: 0.5 },
    { id: "memory", work: "server memory under load", unit: "MiB", figure: "server_mib",
      below: 200 },
    { id: "start", work: "server start to ready", unit: "ms", figure: "start_ms", below: 1000 },
    { id: "pages", work: "console, an account with 1,000 events of \($replayed), cold: first row", unit: "ms",
      figure: "timeline_first_row_ms", below: 500 },
    { id: "pages", work: "console, the same: 100 rows", unit: "ms", figure: "timeline_all_rows_ms" },
    { id: "pages", work: "console, the same: first contentful paint", unit: "ms",
      figure: "console_paint_ms", below: 300 },
    { id: "pages", work: "account page, cold: first contentful paint", unit: "ms",
      figure: "account_paint_ms", below: 300 },
    { id: "pages", work: "account page, first view", unit: "KiB", figure: "account_kib", below: 40.05 },
    { id: "pages", work: "account page, first view, requests", unit: "", figure: "account_requests", below: 13 },
    { id: "pages", work: "console, first view", unit: "KiB", figure: "console_kib", below: 120 },
    { id: "pages", work: "console, first view, requests", unit: "", figure: "console_requests", below: 13 },
    { id: "pages", work: "console, an event verified, from the click to the verdict", unit: "ms",
      figure: "event_verified_ms", below: 50 },
    { id: "large", work: "POST /v1/auth/link at \($large_events) events", unit: "/s",
      figure: "link_large_per_second", yardstick: "at \($small_events) events",
      by: "link_small_per_second", at_least: 0.6 }
];

def citus_rows:
    def row($name; $work; $at_least): { id: "citus", work: "on Citus: \($work)", unit: "/s",
        figure: "citus_\($name)_per_second", yardstick: "on Postgres alone", by: "plain_\($name)_per_second" }
        + (if $at_least then { at_least: $at_least } else {} end);
    [ row("one"; "links of one tenant, 640 connections"; 0.7),
      row("ten"; "links of ten tenants, 640 connections"; 0.7),
      row("hundred"; "links of 100 tenants, 640 connections"; 0.7),
      row("hundred_64"; "links of 100 tenants, 64 connections"; null),
      { id: "citus", work: "on Citus: the same at 640 connections, by a worker", unit: "/s",
        figure: "worker_hundred_per_second", yardstick: "by the coordinator",
        by: "citus_hundred_per_second" } ];

def wanted: .id as $id | $only == "" or ($only | split(",") | index($id) != null);

# A ratio is of two figures of the same run, and the median of the runs counts; without a baseline the
# worst run counts.
def ratios($ours; $theirs):
    if ($ours | length) == ($theirs | length)
    then [$ours, $theirs] | transpose | map(select(.[1] > 0) | .[0] / .[1])
    else [] end;

def measured($figures; $failures):
    .figure as $figure | .by as $by | .id as $id
    | side($figures; $figure) as $ours
    | (if $by then side($figures; $by) else null end) as $theirs
    | side({ ratios: ratios($figures[$figure] // []; $figures[$by // ""] // []) }; "ratios") as $ratios
    | $ratios.median as $ratio
    | { id, work, unit, ours: $ours, yardstick: (if $by then { name: .yardstick } + $theirs else null end),
        ratio: (if $ratio then $ratio * 1000 | round / 1000 else null end),
        ratios: (if $ratios then [$ratios.lowest, $ratios.highest | . * 1000 | round / 1000] else null end),
        asked: (if .at_least then "at least \(.at_least)" elif .more_than then "over \(.more_than)"
            elif .at_most then "at most \(.at_most)" elif .below then "below \(.below) \(.unit)"
            else null end),
        reached: (if .below then (if $ours then $ours.highest < .below else null end)
            elif $ratio then reached($ratio) else null end),
        failure: ($failures[$id] // $failures[$by // ""]
            // (if $ours == null or ($by and $theirs == null) then "not measured" else null end)) };

[inputs | split(" ") | { name: .[0], value: (.[1:] | join(" ")) }]
| (map(select(.name != "failure")) | group_by(.name)
    | map({ key: .[0].name, value: map(.value | tonumber) }) | from_entries) as $figures
| (map(select(.name == "failure") | .value | split(" "))
    | map({ key: .[0], value: .[1:] | join(" ") }) | from_entries) as $failures
| { at: $at, commit: $commit, processor: $processor, cores: ($cores | tonumber),
    postgres: $postgres, connections: ($connections | tonumber),
    requests_per_run: ($links | tonumber), quick: ($quick != ""),
    rows: [(if $citus != "" then citus_rows else rows end)[] | select(wanted) | select(.id != "large" or $large != "")
        | measured($figures; $failures)],
    figures: $figures, failures: $failures }
