/** What each option of an embedding application may be. */
import { HostOptions } from "@atelier/core/platform"
import type { Dispatcher, PushSender } from "@atelier/core/notifications"
import type { ClientDocuments } from "@atelier/core/oauth2"
import type { LoginProvider } from "@atelier/core/identity"
import type { BuilderBase, BuilderModule, StarterTemplate } from "@atelier/core/templates"
import type { NodeInstanceVerifier } from "@atelier/node"
import { Clock, Layer, Logger, Schema, type Tracer } from "effect"
import type { Worker } from "../cluster/Worker.js"
import { type Names, namesOf } from "../wire/Brand.js"
import type { McpServer } from "../mcp/McpServer.js"
import type { Options } from "../Options.js"
import type { AppearanceOptions, ConsoleOptions, NavigationEntry } from "../pages/ConsoleOptions.js"
import type { PageOptions, PageReplacement } from "../pages/PageOptions.js"

const { declared, FilledText, having, layer, method, object, Time } = HostOptions

const replacement = <Details>(): Schema.Schema<PageReplacement<Details>> =>
  declared(
    (input): input is PageReplacement<Details> => (typeof input === "string" && input !== "") || typeof input === "function",
    "an address, or a function that answers the request"
  )

const pages = object<PageOptions>({
  home: replacement(),
  login: replacement(),
  setup: replacement(),
  resetPassword: replacement(),
  logout: replacement(),
  cliAuth: replacement(),
  consent: replacement(),
  requestError: replacement()
})

const Path = declared(
  (input): input is string => typeof input === "string" && /^(?:\/[\w.~-]+)*\/?$/.test(input) && !/\/\.{1,2}(?:\/|$)/.test(input),
  "a path that begins with a slash, of letters, digits and -._~"
)

/** The address of a script is refused: the script would run as the console. */
const Address = declared(
  (input): input is string => typeof input === "string" && /^(?:\/(?!\/)|https?:\/\/)/i.test(input),
  "a path that begins with a slash, or an http or https URL"
)

const Picture = declared(
  (input): input is string => typeof input === "string" && /^(?:\/(?!\/)|data:image\/)/i.test(input),
  "a path that begins with a slash, or a data: address of a picture"
)

const Colour = declared(
  (input): input is string => typeof input === "string" && /^#[0-9a-f]{6}$/i.test(input),
  "a colour of # and six hexadecimal digits"
)

const consoleOptions = object<ConsoleOptions>({
  path: Path,
  navigation: Schema.Array(object<NavigationEntry>({ label: FilledText, address: Address, icon: Picture }, ["label", "address"])),
  folder: FilledText
})

const appearance = object<AppearanceOptions>({
  name: FilledText,
  logo: declared(
    (input): input is string => typeof input === "string" && /^(?:\/(?!\/)|data:image\/|https?:\/\/)/i.test(input),
    "a path that begins with a slash, a data: address of a picture, or an http or https URL"
  ),
  accent: object<NonNullable<AppearanceOptions["accent"]>>({ light: Colour, dark: Colour }, ["light", "dark"])
})

const names = object<Partial<Names>>(
  Object.fromEntries(Object.keys(namesOf()).map((name) => [name, FilledText])) as { readonly [Name in keyof Names]-?: typeof FilledText }
)

const modes = ["automatic", "manual"] as const

const levels = ["debug", "info", "warning", "error", "none"] as const

/** The options of `Atelier.make`. Those of the deployment have their own descriptions, which `configured` judges by. */
export const optionsSchema: Schema.Schema<Options> = object<Options>(
  {
    accessUrl: declared(
      (input): input is string => typeof input === "string" && URL.canParse(input) && /^https?:$/.test(new URL(input).protocol),
      "an http or https URL"
    ),
    authenticate: method("a function that returns the user of a request, or null"),
    pages: Schema.Union(Schema.Literal(false), pages),
    console: Schema.Union(Schema.Literal(false), consoleOptions),
    appearance,
    storage: layer(
      "a layer: Sqlite.layer({ filename }) of @atelier/storage-sqlite, or Postgres.layer({ url }) of @atelier/storage-postgres"
    ),
    provisioner: declared(
      (input): input is NonNullable<Options["provisioner"]> => (Array.isArray(input) ? input.every(Layer.isLayer) : Layer.isLayer(input)),
      "the layer of an engine, such as LocalProvisioner.layer({ directory, agent }) of @atelier/provisioner, or a list of such layers"
    ),
    mcp: having<McpServer>(["answer", "scopes", "scopesOf"], "a server of tools, such as mcpServer() of @atelier/mcp"),
    mailer: layer("a layer, such as SmtpMailer.layer({ smarthost, from }) of @atelier/node"),
    dispatchers: Schema.Array(
      having<Dispatcher>(["method", "dispatch"], "a dispatcher, such as WebhookDispatcher.make({ endpoint }) of @atelier/node")
    ),
    pushSender: having<PushSender>(["generateKeys", "send"], "a sender, such as NodePushSender.make() of @atelier/node"),
    clientDocuments: having<ClientDocuments["Type"]>(
      ["read"],
      "a reader of documents, such as NodeClientDocuments.make() of @atelier/node"
    ),
    loginProviders: Schema.Array(
      having<LoginProvider>(
        ["type", "start", "complete"],
        "a login provider, such as makeOpenIdConnect(…) or makeGitHub(…) of @atelier/http"
      )
    ),
    passwordHasher: layer("a layer, such as Argon2Hasher.layerOf(…) of @atelier/node"),
    starterTemplates: Schema.Array(having<StarterTemplate>(["id", "name", "tar"], "a starter template, such as one of @atelier/templates")),
    templateBuilder: object<NonNullable<Options["templateBuilder"]>>(
      {
        bases: Schema.Array(having<BuilderBase>(["id"], "a base of the template builder")),
        modules: Schema.Array(having<BuilderModule>(["id"], "a module of the template builder"))
      },
      ["bases", "modules"]
    ),
    compatibility: Schema.Literal("coder").annotations({ description: '"coder"' }),
    brand: declared(
      (input): input is string => typeof input === "string" && /[0-9A-Za-z]/.test(input) && input.length <= 64,
      "a word of letters and digits, of at most 64 characters"
    ),
    names,
    basePath: declared(
      (input): input is string => typeof input === "string" && /^(\/[^?#]*)?$/.test(input),
      "a path that begins with a slash"
    ),
    options: having<NonNullable<Options["options"]>>([], "an object with options of the deployment"),
    configuration: having<NonNullable<Options["configuration"]>>(["definitions", "resolved"], "a configuration that was read from sources"),
    releaseFeed: method("a function that returns the newest release"),
    admitWorkspace: method("a function that returns why a workspace may not be created, or undefined"),
    trialIssuer: method("a function that returns a trial license, or why there is none"),
    agentProgram: method("a function that returns the agent's program"),
    instanceAuthorities: having<NodeInstanceVerifier.InstanceAuthorities>([], "an object with keys and certificates"),
    entitlements: having(["has"], "an object with the function has"),
    logLevel: Schema.Literal(...levels).annotations({ description: `one of ${levels.join(", ")}` }),
    logger: declared((input): input is Logger.Logger<unknown, void> => Logger.isLogger(input), "a Logger of effect"),
    clock: having<Clock.Clock>([], "a Clock of effect").pipe(
      Schema.filter((clock) => Clock.ClockTypeId in clock, { description: "a Clock of effect" })
    ),
    tracing: Schema.Union(HostOptions.Truth, having<Tracer.Tracer>(["span"], "a Tracer of effect")),
    backgroundWork: Schema.Literal(...modes).annotations({ description: `one of ${modes.join(", ")}` }),
    backgroundDelay: Time,
    drainTimeout: Time,
    logAudit: HostOptions.Truth,
    worker: having<Worker>(["number", "socket", "states", "ask", "answer"], "the worker that run of @atelier/http/cluster gives"),
    shutdownTimeout: Time
  },
  ["accessUrl", "storage"]
)
