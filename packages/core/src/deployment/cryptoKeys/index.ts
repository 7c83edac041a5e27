export * from "./CryptoKey.js"
export * from "./CryptoKeys.js"
export * from "./missingKeys.js"
