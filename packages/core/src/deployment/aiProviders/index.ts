export { type AiProviderKey, AiProviderRepository, type BedrockSettings, maskedKey, type StoredAiProvider } from "./AiProvider.js"
export * from "./AiProviders.js"
