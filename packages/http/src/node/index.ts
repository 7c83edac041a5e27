/** What only a Node process can offer. */
export * as NodeArchives from "./NodeArchives.js"
export * as NodeCryptography from "./NodeCryptography.js"
export * as NodeEncryption from "./NodeEncryption.js"
export * as NodeSshKeyGenerator from "./NodeSshKeyGenerator.js"
export * as SmtpMailer from "./SmtpMailer.js"
export * as YamlSecrets from "./YamlSecrets.js"
export { refuseMalformed } from "./refuseMalformed.js"
export { serverOptions } from "./serverOptions.js"
