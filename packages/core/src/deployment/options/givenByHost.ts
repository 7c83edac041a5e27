/** The options of an embedding application, as it writes them. deployment.md §2. */
import { Duration, Either, Redacted, Schema } from "effect"
import { HostOptions } from "../../platform/index.js"
import type { StartError } from "../../platform/wiring/StartError.js"
import { type ExternalAuthInput, type Given, optionName, OptionRefused } from "./Configuration.js"
import type { Definition } from "./Definition.js"
import { emptyExternalAuth, type ExternalAuthEntry, type OptionValue, readText, type SupportLink } from "./readers.js"

const { FilledText, object, SecretText, Text, Time, Truth } = HostOptions

const texts = Schema.Array(Text)

const link = object<SupportLink>({ name: Text, target: Text, icon: Text, location: Text }, ["name", "target", "icon"])

/** Members of a provider are of the kind that they have where nothing is set. */
const memberOf = (name: string, empty: ExternalAuthEntry[keyof ExternalAuthEntry]): Schema.Schema.AnyNoContext => {
  if (name === "client_secret") return SecretText
  return typeof empty === "boolean" ? Truth : empty === null ? Schema.NullOr(texts) : Text
}

const provider = object<ExternalAuthInput>(
  {
    ...(Object.fromEntries(Object.entries(emptyExternalAuth).map(([name, empty]) => [name, memberOf(name, empty)])) as {
      readonly [Member in keyof ExternalAuthInput]-?: Schema.Schema<Exclude<ExternalAuthInput[Member], undefined>>
    }),
    client_id: FilledText
  },
  ["client_id"]
)

const structures = {
  texts: Schema.Record({ key: Schema.String, value: Text }).annotations({ description: "an object with texts as values" }),
  lists: Schema.Record({ key: Schema.String, value: texts }).annotations({ description: "an object with lists of texts as values" }),
  links: Schema.Array(link),
  providers: Schema.Array(provider)
}

/** The form of a value; what a text may say is read from it as from a command line. */
const formOf = ({ each, least, secret, structure, type, unit }: Definition): Schema.Schema.AnyNoContext => {
  if (structure !== undefined) return structures[structure]
  if (type === "duration" || unit === "seconds") return Time
  if (type === "bool") return Truth
  if (type === "int") return HostOptions.wholeNumber(least ?? -Infinity)
  if (type === "string-array")
    return secret === true ? Schema.Array(SecretText) : each === undefined ? texts : Schema.Array(Schema.Literal(...each))
  return secret === true ? SecretText : Text
}

const nanosecondsOf = (duration: Duration.Duration): bigint =>
  Duration.match(duration, { onMillis: (millis) => BigInt(Math.round(millis * 1e6)), onNanos: (nanos) => nanos })

const plainOf = (input: unknown): unknown =>
  Redacted.isRedacted(input) ? Redacted.value(input) : Array.isArray(input) ? input.map(plainOf) : input

const noYaml = () => Either.left("must be no YAML")

const refusedBy = ({ option: name, reason, value }: StartError): OptionRefused =>
  new OptionRefused({ name, reason, ...(value === undefined ? {} : { value }) })

/** The value that a host wrote, in the form in which options are kept. */
export const givenByHost = (flag: string, definition: Definition, input: unknown): Either.Either<Given, OptionRefused> => {
  const name = optionName(flag)
  const refusal = HostOptions.refusalOf(name, formOf(definition), input)
  if (refusal !== undefined) return Either.left(refusedBy(refusal))
  const { secret, structure, type, unit } = definition
  // The form has just been judged
  const plain = plainOf(input) as OptionValue & Duration.DurationInput
  const given = (value: OptionValue): Given => ({ source: "flag", value, name })
  if (structure === "providers") {
    const providers = input as ReadonlyArray<ExternalAuthInput>
    return Either.right(
      given(
        providers.map(({ client_secret, ...one }) => ({
          ...emptyExternalAuth,
          ...one,
          client_secret: String(plainOf(client_secret ?? ""))
        }))
      )
    )
  }
  if (type === "duration") return Either.right(given(nanosecondsOf(Duration.decode(plain))))
  if (unit === "seconds") return Either.right(given(Math.ceil(Duration.toSeconds(Duration.decode(plain)))))
  if (typeof plain !== "string") return Either.right(given(plain))
  return Either.mapBoth(readText(definition, plain, noYaml), {
    onLeft: (reason) => new OptionRefused({ name, reason, ...(secret === true ? {} : { value: plain }) }),
    onRight: given
  })
}
