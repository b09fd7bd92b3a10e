// The demonstration's people, and the servers that it leaves as they are. node --test tools/lib/demo/

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import test from "node:test";
import { people } from "./people.mjs";

test("a seed has the same people each time, and another seed has others", () => {
  assert.deepEqual(people(300, 3), people(300, 3));
  const names = new Set(people(300, 3).concat(people(300, 4)).map(({ name }) => name));
  assert.equal(names.size, 600);
});

test("people sign up by every type of provider, within the limits of codes and of anonymous accounts", () => {
  const small = people(20, 1).map(({ provider }) => provider);
  assert.equal(new Set(small).size, 11);
  const many = people(2_000, 1).map(({ provider }) => provider);
  assert.ok(many.filter((provider) => ["email", "phone", "password"].includes(provider)).length <= 24);
  assert.ok(many.filter((provider) => provider === "anonymous").length <= 12);
});

test("a server that is not in development mode gets one request, and no key", async () => {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push([request.method, request.url, request.headers.authorization]);
    response.writeHead(404, { "Content-Type": "application/json" }).end(`{"error":{"code":"NOT_FOUND","message":"No such path"}}`);
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", () => resolve(undefined)); });
  const address = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
  const { code, errors } = await new Promise((resolve) => {
    const program = new URL("demo.mjs", import.meta.url).pathname;
    execFile(process.execPath, [program, address, "20", "1"], { env: { LEDGER_DEMO_KEY: "alk_x" } },
      (error, _, errors) => resolve({ code: error?.code, errors }));
  });
  server.close();
  assert.equal(code, 1);
  assert.match(errors, /is not in development mode; it stays as it is/);
  assert.deepEqual(requests, [["GET", "/dev/outbox", undefined]]);
});
