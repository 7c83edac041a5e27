/** Names to start from. */
const qualities = [
  "amber",
  "bold",
  "brisk",
  "calm",
  "clear",
  "copper",
  "coral",
  "eager",
  "gentle",
  "golden",
  "ivory",
  "jade",
  "keen",
  "lively",
  "lunar",
  "mellow",
  "noble",
  "polar",
  "quiet",
  "rapid",
  "silver",
  "solar",
  "steady",
  "swift",
  "velvet",
  "vivid"
]
const things = [
  "atlas",
  "beacon",
  "birch",
  "canyon",
  "cedar",
  "comet",
  "dune",
  "ember",
  "falcon",
  "fjord",
  "forge",
  "harbor",
  "heron",
  "lagoon",
  "lark",
  "maple",
  "meadow",
  "otter",
  "pine",
  "prairie",
  "quartz",
  "raven",
  "ridge",
  "river",
  "summit",
  "willow"
]

const oneOf = (words: ReadonlyArray<string>): string => words[Math.floor(Math.random() * words.length)] ?? ""

/** A name that is easy to say, such as "quiet-heron-42". */
export const nameIdea = (): string => `${oneOf(qualities)}-${oneOf(things)}-${10 + Math.floor(Math.random() * 90)}`
