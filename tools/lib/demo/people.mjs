// The people of a demonstration, the same for each seed.

const given = [
  "Ada", "Alan", "Barbara", "Chen", "Dorothy", "Edsger", "Frances", "Grace", "Hedy", "Ines", "Jean", "Katherine", "Lin", "Mary",
  "Nadia", "Olga", "Pablo", "Radia", "Sofia", "Tim", "Ursula", "Viktor", "Wanda", "Yuki", "Zofia",
];
const family = [
  "Abe", "Bauer", "Castro", "Dubois", "Eriksen", "Fischer", "Garcia", "Haddad", "Ivanova", "Jansen", "Kowalski", "Larsen", "Moreau",
  "Novak", "Okafor", "Patel", "Quinn", "Rossi", "Silva", "Tanaka", "Ueda", "Vogel", "Weber", "Yilmaz", "Zhang",
];
/** The providers with which people sign up, and how many of a hundred do. */
const shares = {
  google: 28, apple: 20, facebook: 10, github: 10, password: 7, passkey: 6, email: 6, anonymous: 4, x: 4, linkedin: 3, phone: 2,
};
const byToken = ["google", "apple", "facebook", "github"];
/** The providers of the first people. */
const first = [...Object.keys(shares), ...byToken, ...byToken];
/** Fewer than the ledger permits one network to request or to open within an hour. */
const limits = { codes: 24, anonymous: 12 };
const ofCodes = ["email", "phone", "password"];

/** Random numbers from a seed (the generator mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Makes people, each with the provider of the sign-up. */
export function people(count, seed) {
  const next = random(seed);
  const left = { ...limits };
  return Array.from({ length: count }, (_, number) => {
    const words = [given[Math.floor(next() * given.length)], family[Math.floor(next() * family.length)]];
    // A small demonstration has all providers, too, and enough people whose accounts can be repaired.
    let provider = number < first.length ? first[number] : weighted(next());
    const budget = ofCodes.includes(provider) ? "codes" : provider;
    if (budget in left && (left[budget] -= 1) < 0) provider = "google";
    const name = `${words.join(" ")} ${seed}-${number + 1}`;
    return {
      number, name, provider, email: `${name.toLowerCase().replaceAll(" ", ".")}@example.com`,
      phone: `+4915${String(100_000_000 + (seed % 9000) * 10_000 + number).padStart(9, "0")}`,
      password: `${words[1]} rides the ${number + 1} tram of seed ${seed}`, roll: Array.from({ length: 6 }, next),
    };
  });
}

function weighted(value) {
  let sum = 0;
  for (const [provider, share] of Object.entries(shares)) {
    sum += share / 100;
    if (value < sum) return provider;
  }
  return "google";
}
