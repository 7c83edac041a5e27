import { type AiProvider, AiProviders, type BedrockSettings, maskedKey } from "@atelier/core/ai"
import { Effect, Struct } from "effect"
import * as contract from "../../contract/ai/aiProviders.js"
import * as Handlers from "../Handlers.js"

/** Settings without credentials; empty texts are left out. */
const shownSettings = (settings: BedrockSettings) => ({
  _type: "bedrock" as const,
  _version: 1 as const,
  ...Object.fromEntries(Object.entries(Struct.omit(settings, "access_key", "access_key_secret")).filter(([, text]) => text !== ""))
})

const view = ({ display_name, keys, name, settings, ...provider }: AiProvider) => ({
  ...provider,
  name,
  display_name: display_name || name,
  api_keys: keys.map(({ api_key, created_at, id }) => ({ id, masked: maskedKey(api_key), created_at })),
  settings: settings === null ? null : shownSettings(settings)
})

export const aiProviders = Handlers.group(contract.aiProviders, (handlers) =>
  Effect.map(AiProviders, (providers) =>
    handlers
      .handle("listAiProviders", () => Effect.map(providers.list, (all) => all.map(view)))
      .handle("createAiProvider", ({ payload }) => Effect.map(providers.create(payload), view))
      .handle("getAiProvider", ({ path }) => Effect.map(providers.get(path.idOrName), view))
      .handle("updateAiProvider", ({ path, payload }) => Effect.map(providers.update(path.idOrName, payload), view))
      .handle("deleteAiProvider", ({ path }) => providers.remove(path.idOrName))
  )
)
