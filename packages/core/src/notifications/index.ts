export * from "./EmailMessage.js"
export * from "./Mailer.js"
