// The language of a page: `?lang=`, else the first of `Accept-Language` that there are texts in.

/** The languages with texts. */
export const languages = ["en", "de", "es", "fr", "ja", "zh-Hant"];

/** The texts of a language tag; null without any. Chinese is in traditional characters only. */
export function textsFor(tag) {
  const parts = tag.trim().toLowerCase().split("-");
  if (parts[0] === "zh") {
    const isSimplified = parts.includes("hans") || (!parts.includes("hant") && ["cn", "sg"].some((p) => parts.includes(p)));
    return isSimplified ? null : "zh-Hant";
  }
  return languages.find((language) => language === parts[0]) ?? null;
}

/**
 * Chooses a language.
 *
 * @param {string | null} asked by the address
 * @param {string} accepted the value of `Accept-Language`
 */
export function chooseLanguage(asked, accepted) {
  const known = asked && textsFor(asked);
  if (known) return known;
  const wanted = accepted.split(",").map((part) => {
    const [tag, ...parameters] = part.split(";");
    const weight = parameters.map((text) => text.trim()).find((text) => text.startsWith("q="));
    return { tag, weight: weight ? Number(weight.slice(2)) || 0 : 1 };
  }).filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  for (const { tag } of wanted) {
    const language = textsFor(tag);
    if (language) return language;
  }
  return "en";
}
