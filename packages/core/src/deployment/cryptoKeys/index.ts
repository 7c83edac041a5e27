export * from "./CryptoKey.js"
export * from "./CryptoKeys.js"
