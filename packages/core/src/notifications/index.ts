export * from "./Letter.js"
export * from "./Mailer.js"
