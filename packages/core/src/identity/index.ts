export * from "./ApiKey.js"
export * from "./Sessions.js"
export * from "./User.js"
export * from "./UserRepository.js"
