// The languages of the page.

import assert from "node:assert/strict";
import test from "node:test";
import { chooseLanguage, languages } from "../../../Sources/CPageAssets/lib/languages.mjs";
import { newName, sentCode, signInAt } from "./people.mjs";
import { base, withBrowser } from "./tab.mjs";

/** The texts of each language: those of the first view, and the others. */
const texts = Object.fromEntries(await Promise.all(languages.map(async (language) => {
  const parts = await Promise.all([language, `${language}-more`].map((name) =>
    import(`../../../Sources/CPageAssets/texts/${name}.mjs`)));
  return [language, Object.assign({}, ...parts.map((part) => part.texts))];
})));

/** The paths of all texts, with the numbers of their parameters. */
function shape(value, path = "") {
  if (typeof value === "string") return [path];
  if (typeof value === "function") return [`${path}(${value.length})`];
  return Object.entries(value).flatMap(([name, each]) => shape(each, `${path}.${name}`)).sort();
}

test("each language has every text", () => {
  for (const language of languages) {
    assert.deepEqual(shape(texts[language]), shape(texts.en), language);
    for (const [name, text] of Object.entries(texts[language])) {
      if (typeof text === "function" && text.length === 1) {
        assert.ok(text("MARK").includes("MARK"), `${language} ${name}`);
      }
      assert.notEqual(text, "", `${language} ${name}`);
    }
  }
});

test("a language is chosen by the address, and otherwise by the browser's", () => {
  const choices = [
    [null, "", "en"], [null, "de-AT,en;q=0.8", "de"], [null, "it,fr;q=0.5,es;q=0.9", "es"], [null, "nl", "en"],
    [null, "zh-TW", "zh-Hant"], [null, "zh-CN,ja;q=0.1", "ja"], [null, "zh-Hant-CN", "zh-Hant"], [null, "zh", "zh-Hant"],
    [null, "de;q=0,fr;q=0.1", "fr"], [null, "de;q=x, ja", "ja"], ["fr", "de", "fr"], ["zh-Hant", "", "zh-Hant"],
    ["constructor", "ja", "ja"], ["../../evil", "es", "es"],
  ];
  for (const [asked, accepted, expected] of choices) {
    assert.equal(chooseLanguage(asked, accepted), expected, `${asked} ${accepted}`);
  }
});

test("the page is in each language, also after the way to a provider", () =>
  withBrowser(async (open) => {
    for (const language of languages) {
      const t = texts[language];
      const tab = await open({ languages: language === "zh-Hant" ? "zh-TW,en;q=0.5" : `${language},en;q=0.5` });
      await tab.open(`${base}/account`);
      await tab.sees("heading", t.signIn);
      assert.equal(await tab.evaluate("document.documentElement.lang"), language);
      assert.equal(await tab.evaluate("document.title"), t.signIn);
      await tab.click(t.signInWith("Google"));
      await signInAt(tab, "google", newName());
      await tab.says(t.welcome);
      await tab.sees("heading", t.title);
      if (["de", "ja"].includes(language)) await tab.check(language);
    }
    const tab = await open({ languages: "de" });
    await tab.open(`${base}/account?lang=ja`);
    await tab.click(texts.ja.signInWith("Google"));
    await signInAt(tab, "google", newName());
    await tab.says(texts.ja.welcome);
  }));

test("a code is sent in the language of the page", () => withBrowser(async (open) => {
  const tab = await open();
  const email = `${newName()}@example.com`;
  await tab.open(`${base}/account?lang=de`);
  await tab.click(texts.de.signInWithCode.email);
  await tab.fill(texts.de.email, email);
  await tab.click(texts.de.sendCode);
  await sentCode(email);
  const { messages } = await (await fetch(`${base}/dev/outbox`)).json();
  assert.equal(messages.find(({ to }) => to === email).language, "de");
}));
