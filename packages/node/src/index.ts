/** The core's ports as Node implements them. */
export * as Argon2Hasher from "./Argon2Hasher.js"
export * as NodeArchives from "./NodeArchives.js"
export * as NodeCryptography from "./NodeCryptography.js"
export * as NodeEncryption from "./NodeEncryption.js"
export * as NodeSshKeyGenerator from "./NodeSshKeyGenerator.js"
export * as NodeTaskApps from "./NodeTaskApps.js"
export * as SmtpMailer from "./SmtpMailer.js"
export * as YamlSecrets from "./YamlSecrets.js"
