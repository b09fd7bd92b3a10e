// Fills a ledger in development mode: node demo.mjs ADDRESS ACCOUNTS SEED, with an administrator's key in LEDGER_DEMO_KEY.

import { Client, Refused } from "./client.mjs";
import { people as makePeople } from "./people.mjs";
import { repair } from "./repairs.mjs";

/** The providers with which people link a second identity. */
const seconds = ["google", "apple", "facebook", "github", "x", "linkedin"];
const proofsByToken = ["google", "apple", "facebook", "github"];

const [base, accounts, seed] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const client = new Client(base, process.env.LEDGER_DEMO_KEY ?? "");
/** The numbers of things that were made, by their names in the plural. */
const made = new Map();
const count = (name, number = 1) => made.set(name, (made.get(name) ?? 0) + number);

try {
  await requireDevelopment();
  const people = makePeople(accounts, seed);
  await signUp(people);
  await live(people);
  const remarkable = await repair({ client, people: people.filter(({ providers }) => proofsByToken.includes(providers[0])), count, expectRefusal });
  report(remarkable);
} catch (error) {
  process.stderr.write(`tools/demo: ${error.cause ? `${error.message}: ${error.cause.message}` : error.message}\n`);
  process.exitCode = 1;
}

/** Ends with a failure unless the server is in development mode and the key is an administrator's. */
async function requireDevelopment() {
  const outbox = await client.ask("GET", "/dev/outbox").catch((error) => {
    if (error instanceof Refused) return null;
    throw new Error(`no server answers at ${base}`, { cause: error.cause ?? error });
  });
  if (!Array.isArray(outbox?.messages)) throw new Error(`the server at ${base} is not in development mode; it stays as it is`);
  const me = await client.support("GET", "/v1/access-log?limit=1").catch((error) => error);
  if (me instanceof Refused) throw new Error(`LEDGER_DEMO_KEY is not the key of an administrator at ${base}`);
}

async function signUp(people) {
  for (const person of people) {
    const session = await client.signIn(person, person.provider).catch((error) => {
      if (!(error instanceof Refused && error.status === 429)) throw error;
      // A former demonstration has used up what one network may ask for within an hour.
      count("of these by google, as there are too many codes or anonymous accounts within an hour");
      person.provider = "google";
      return client.signIn(person, person.provider);
    });
    if (!session.is_new_user) throw new Error(`this ledger has the people of seed ${seed}; choose another one with --seed`);
    person.providers = [person.provider];
    count("accounts");
    count(`by ${person.provider}`);
  }
}

/** The days of people: they return, link, unlink, and some enrol an authenticator app or mistype a password. */
async function live(people) {
  for (const person of people) {
    const [returns, links, unlinks, which, enrols] = person.roll;
    const canReturn = proofsByToken.includes(person.provider) || person.provider === "password";
    for (let times = Math.floor(returns * 4); canReturn && times > 0; times -= 1) {
      await client.signIn(person, person.provider);
      count("further sign-ins");
    }
    if (person.provider === "password" && returns < 0.4) {
      const wrong = { email: person.email, password: "not this one" };
      await expectRefusal("INVALID_PASSWORD", client.ask("POST", "/v1/auth/sign-in/password", wrong));
      count("wrong passwords");
    }
    if (links < 0.4) {
      const provider = seconds.filter((each) => each !== person.provider)[Math.floor(which * (seconds.length - 1))];
      await client.link(person, provider);
      // The anonymous identity ends with the first link.
      person.providers = [...person.providers.filter((each) => each !== "anonymous"), provider];
      count("links");
      if (unlinks < 0.2 && person.providers.length > 1) {
        await client.as(person, "DELETE", `/v1/auth/link/${provider}`);
        person.providers = person.providers.filter((each) => each !== provider);
        count("unlinks");
      }
    } else if (unlinks < 0.1 && person.provider !== "anonymous") {
      await expectRefusal("CANNOT_UNLINK_ONLY_PROVIDER", client.as(person, "DELETE", `/v1/auth/link/${person.provider}`));
      count("refused unlinks");
    }
    if (enrols < 0.03 && person.provider !== "anonymous") {
      await client.enrol(person);
      person.hasFactor = true;
      count("authenticator apps");
    }
  }
}

async function expectRefusal(code, request) {
  const error = await request.then(() => null, (failure) => failure);
  if (error instanceof Refused && error.code === code) return;
  throw error ?? new Error(`a request was not refused with ${code}`);
}

function report({ account, addresses }) {
  const numbers = [...made].map(([name, number]) => (name.startsWith("by ") ? `  ${name.slice(3)}: ${number}` : `${name}: ${number}`));
  const page = base.replace("127.0.0.1", "localhost");
  process.stdout.write(`${[
    `Made with seed ${seed} by ${client.requests} requests:`, "", ...numbers, "", "Worth opening, with the role admin:", "",
    `  ${page}/console/conflicts   the conflicts, open and resolved`,
    `  ${page}/console/accounts/${account}   ${addresses}`,
    `  ${page}/console/   the figures of the last days`,
  ].join("\n")}\n`);
}
