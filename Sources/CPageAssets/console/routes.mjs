// The addresses of the console, below `console/`.

const all = ["auditor", "support", "admin"];
const repair = ["support", "admin"];

/**
 * `pattern` has `:names` for parameters. `nav` is the text in the bar, where the session has what it `needs`.
 *
 * @type {{pattern: string, module: string, title: string, roles: string[], nav?: string, needs?: string, params?: Record<string, string>}[]}
 */
export const routes = [
  { pattern: "", module: "view-overview.mjs", title: "Overview", roles: all, nav: "Overview" },
  { pattern: "overview", module: "view-overview.mjs", title: "Overview", roles: all },
  { pattern: "search", module: "view-search.mjs", title: "Search", roles: all, nav: "Search" },
  { pattern: "conflicts", module: "view-conflicts.mjs", title: "Conflicts", roles: all, nav: "Conflicts" },
  { pattern: "conflicts/timelines", module: "view-timelines.mjs", title: "Timeline of both accounts", roles: all },
  { pattern: "events", module: "view-events.mjs", title: "Events", roles: all, nav: "Events" },
  { pattern: "events/:event", module: "view-event.mjs", title: "Event", roles: all },
  { pattern: "log", module: "view-log.mjs", title: "Log", roles: all, nav: "Log" },
  { pattern: "access-log", module: "view-access-log.mjs", title: "Access log", roles: ["auditor", "admin"], nav: "Access log" },
  { pattern: "export", module: "view-export.mjs", title: "Export", roles: ["auditor", "admin"] },
  { pattern: "holds", module: "view-holds.mjs", title: "Legal holds", roles: repair, nav: "Legal holds" },
  { pattern: "erasures", module: "view-erasures.mjs", title: "Erasures to confirm", roles: ["admin"], nav: "Erasures", needs: "erase_needs_two" },
  { pattern: "accounts/:id", module: "view-account.mjs", title: "Account", roles: all },
  { pattern: "accounts/:id/as-of", module: "view-as-of.mjs", title: "As of", roles: all },
  { pattern: "accounts/:id/compare", module: "view-compare.mjs", title: "Compare", roles: all },
  { pattern: "accounts/:id/picture", module: "view-picture.mjs", title: "Picture", roles: all },
  { pattern: "accounts/:id/merge", module: "view-merge.mjs", title: "Merge accounts", roles: repair },
  { pattern: "accounts/:id/undo", module: "view-undo.mjs", title: "Undo a merge", roles: repair },
  { pattern: "accounts/:id/relink", module: "view-relink.mjs", title: "Link an identity again", roles: repair },
  { pattern: "accounts/:id/unlink", module: "view-unlink.mjs", title: "Unlink an identity", roles: repair },
  { pattern: "accounts/:id/disable", module: "view-access.mjs", title: "Disable an account", roles: repair, params: { act: "disable" } },
  { pattern: "accounts/:id/enable", module: "view-access.mjs", title: "Enable an account", roles: repair, params: { act: "enable" } },
  {
    pattern: "accounts/:id/end-sessions", module: "view-access.mjs", title: "End all sessions", roles: repair,
    params: { act: "end-sessions" },
  },
  { pattern: "accounts/:id/hold", module: "view-hold.mjs", title: "Legal hold", roles: ["admin"] },
  { pattern: "accounts/:id/erase", module: "view-erase.mjs", title: "Erase an account", roles: ["admin"] },
  { pattern: "identities/:id", module: "view-owner.mjs", title: "Holders of an identity", roles: all },
];

/**
 * Finds the route of a path; null without one.
 *
 * @param {string} path below `console/`, without its query
 */
export function routeOf(path) {
  const parts = path.replace(/\/$/, "").split("/");
  for (const route of routes) {
    const wanted = route.pattern.split("/");
    if (wanted.length !== parts.length) continue;
    /** @type {Record<string, string>} */
    const params = { ...route.params };
    const fits = wanted.every((part, index) => {
      if (!part.startsWith(":")) return part === parts[index];
      params[part.slice(1)] = decode(parts[index]);
      return parts[index] !== "";
    });
    if (fits) return { route, params };
  }
  return null;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
