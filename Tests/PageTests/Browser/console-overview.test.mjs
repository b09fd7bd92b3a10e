// The console's overview: figures by day, and the states of the ledger's parts.

import assert from "node:assert/strict";
import test from "node:test";
import { conflict } from "./accounts.mjs";
import { staffTab } from "./staff.mjs";
import { base, withBrowser } from "./tab.mjs";

const hostile = `<img src=x onerror="console.error('run')">`;

test("figures are bars with a table behind each, and each part has its state", () =>
  withBrowser(async (open) => {
    await conflict();
    const tab = await staffTab(open, "auditor");
    await tab.sees("heading", "Overview");
    await tab.wait(`[...document.querySelectorAll("[role=img]")].length === 9`, "nine charts");
    // A chart says what it shows, and its table has the same figures.
    await tab.wait(`document.querySelector("[role=img]")?.getAttribute("aria-label").startsWith("Events: ")`);
    await tab.click("Conflicts as a table", "summary");
    const [rows, first, days] = await tab.evaluate(`(() => {
      const rows = [...document.querySelectorAll("details[open] tbody tr")].map((row) => row.innerText);
      return [rows.length, rows[0], document.querySelectorAll("details[open] tbody th").length];
    })()`);
    assert.equal(rows, 30);
    assert.equal(days, 30);
    assert.match(first, /^20[0-9]{2}-[0-9]{2}-[0-9]{2}\s+[0-9]+$/);
    const text = await tab.evaluate(`document.querySelector("main").innerText`);
    for (const part of ["open conflict", "looked at", "Sealer", "Read model Identities", "Messages", "Access log"]) {
      assert.ok(text.includes(part), part);
    }
    await tab.check("overview");
    await tab.click("7 days", "link");
    await tab.sees("heading", "The last 7 days, in UTC");
    assert.equal(await tab.evaluate(`document.querySelector("nav[aria-label=Days] [aria-current]").textContent`), "7 days");
  }));

test("parts that stopped, lag or gave up say so, and texts of the server are texts", () =>
  withBrowser(async (open) => {
    const tab = await staffTab(open, "admin");
    await tab.change("/v1/overview?*", (answer) => {
      answer.checkpoint = null;
      answer.counted = "1";
      answer.log_size = "4711";
      answer.projections = [{ name: hostile, lag: "3", failure: hostile }, { name: "conflicts", lag: "12" }];
      answer.webhooks = [{
        endpoint_id: "01a21995-e445-7268-8d93-3f7da43bbaba", disabled: true, lag: "5", pending: "2", dead_letters: "7",
      }];
    });
    await tab.open(`${base}/console/`);
    await tab.wait(`document.querySelector("main").innerText.includes("nothing is signed yet")`);
    const text = await tab.evaluate(`document.querySelector("main").innerText.replace(/\\s+/g, " ")`);
    for (const part of ["4,710 of the newest events", `stopped at ${hostile}`, "12 events behind", "disabled 5 2 7"]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    await tab.check("an overview of what failed");
  }));
