// Conflicts between accounts, and what support makes of them.

const reasons = [
  "Customer writes from both addresses, ticket", "Call from the number on file, ticket", "Two accounts after the new phone, ticket",
  "Lost access to the work account, ticket", "Escalated by the second line, ticket",
];

/**
 * Lets people run into conflicts, and repairs accounts.
 *
 * @returns the account with the richest history, and a sentence about it
 */
export async function repair({ client, people, count, expectRefusal }) {
  const usable = people.filter(({ hasFactor, providers }) => !hasFactor && providers.length > 0);
  let next = 0;
  const take = () => {
    const person = usable[next];
    next += 1;
    if (!person) throw new Error("there are too few accounts");
    return person;
  };
  let ticket = 4711;
  const words = () => {
    ticket += 1;
    return { reason: `${reasons[ticket % reasons.length]} ${ticket}`, case: `T-${ticket}` };
  };
  const path = (person) => `/v1/accounts/${person.userID}`;
  const identity = async (person, provider) =>
    (await client.support("GET", path(person))).links.find((link) => link.provider === provider).identity_id;
  const merge = async (survivor, absorbed, keep) => {
    const { merge: event } = await client.repair(`${path(survivor)}/merge`, words(), { absorb: absorbed.userID, ...(keep && { keep }) });
    count("merges");
    return event;
  };
  const undo = async (event) => {
    await client.repair(`/v1/merges/${event}/undo`, words());
    count("undone merges");
  };
  /** Lets a person claim an identity of another account. */
  const conflict = async (caller, holder, provider = holder.providers[0]) => {
    await expectRefusal("PROVIDER_CONFLICT", client.link(caller, provider, holder));
    count("conflicts");
  };

  // One account through everything: a conflict, a merge, its undoing, an unlink, and the relink.
  const [ada, other] = [take(), take()];
  const [first, second] = ["github", "facebook"].map((name) => ({ ...ada, name: `${ada.name} ${name}` }));
  if (!ada.providers.includes("github")) await client.link(ada, "github", first);
  if (!other.providers.includes("facebook")) await client.link(other, "facebook", second);
  if (ada.providers.includes(other.providers[0])) await conflict(ada, second, "facebook");
  else await conflict(ada, other);
  const both = ada.providers.concat("github").filter((each) => other.providers.concat("facebook").includes(each));
  await undo(await merge(ada, other, both.length ? Object.fromEntries(both.map((each) => [each, "survivor"])) : undefined));
  await client.signIn(ada, ada.providers[0]);
  const unlinked = await identity(ada, "github");
  await client.as(ada, "DELETE", "/v1/auth/link/github");
  await client.repair(`${path(ada)}/identities/${unlinked}/relink`, words());
  count("relinks");

  // About a tenth of the people claim what another account has.
  const pairs = Math.min(Math.max(4, Math.floor(usable.length / 10)), Math.floor((usable.length - 7) / 2));
  const lookedAt = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const [caller, holder] = [take(), take()];
    await conflict(caller, holder);
    if (pair % 3 === 0) await expectRefusal("PROVIDER_CONFLICT", client.link(caller, holder.providers[0], holder));
    if (pair % 5 === 1) await merge(caller, holder);
    if (pair % 5 === 2) await undo(await merge(caller, holder));
    if (pair % 5 === 3) lookedAt.push(caller);
  }
  for (const caller of lookedAt) {
    const event = (await client.conflicts(caller.userID))[0].first_attempt.event_id;
    await client.support("PUT", `/v1/conflicts/${event}/review`, { note: `Called back, two different people (T-${ticket})` });
    count("conflicts looked at");
  }

  // Other repairs of support and administrators.
  const rounds = Math.max(1, Math.min(Math.floor(usable.length / 60), Math.floor((usable.length - next) / 5)));
  for (let round = 0; round < rounds; round += 1) {
    const [disabled, ended, planned, held, erased] = [take(), take(), take(), take(), take()];
    await client.repair(`${path(disabled)}/disable`, words());
    count("disabled accounts");
    await client.repair(`${path(ended)}/end-sessions`, words());
    count("accounts signed out by support");
    if (planned.providers.length < 2) await client.link(planned, planned.providers.includes("apple") ? "google" : "apple");
    await client.repair(`${path(planned)}/identities/${await identity(planned, planned.providers[0])}/unlink`, words());
    count("planned unlinks");
    await client.support("POST", `${path(held)}/holds`, undefined, `Court order ${ticket}`);
    count("legal holds");
    await client.support("DELETE", `${path(erased)}?basis=data_subject_request`, undefined, `Request for erasure ${ticket}`);
    count("erased accounts");
  }
  return { account: ada.userID, addresses: "an account that was merged, separated, unlinked and linked again" };
}
